/** Relays notify each other, and whoever folds, of appends: the detail is the stream. A hint, which may be lost. */
export const APPENDED_TOPIC = 'appended';
