export const FOLD_WORKER = Symbol('FoldWorker');
export const VIEWS = Symbol('Views');
export const STOPPING = Symbol('stopping');
