export const INGEST = Symbol('IngestService');
export const CLOCK = Symbol('Clock');
