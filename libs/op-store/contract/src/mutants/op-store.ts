import type { MemoryOpLog, MemoryOpStore } from '../memory-op-store.ts';

/** Broken models by the name in a case's `kills`. */
export type OpStoreMutants = Readonly<Record<string, new (log: MemoryOpLog) => MemoryOpStore>>;
