export const VIEWS = Symbol('Views');
export const MIN_SEQ_WAIT = Symbol('MinSeqWait');
