export const VIEWS = Symbol('Views');
export const READ_WAIT = Symbol('ReadWait');
export const OPERATOR = Symbol('FoldOperator');
export const LOG = Symbol('Logger');
