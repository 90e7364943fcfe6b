import type { Op } from '@tidemark/libs-wire';
import type { OpStore } from '../op-store.ts';
import { MemoryOpLog, MemoryOpStore } from './memory-op-store.ts';

/** An empty op log of its own for one case. */
export interface OpStoreHarness {
  /** Another handle on the same data each time, as another process would open. */
  open(): Promise<OpStore>;
  /** Puts an op at a seq past the port, as an older writer or a damaged disk would have left it. */
  plant(stream: string, seq: bigint, op: Op): Promise<void>;
}

type Handle = new (log: MemoryOpLog) => MemoryOpStore;

/** The harness of the memory model, or of a mutant of it. */
export function memoryOpStoreHarness(Handle: Handle = MemoryOpStore): OpStoreHarness {
  const log = new MemoryOpLog();
  return {
    open: async () => new Handle(log),
    plant: async (stream, seq, op) => new MemoryOpStore(log).plant(stream, seq, op),
  };
}

/** Harnesses of deliberately broken models, by the name in a case's `kills`. */
export type OpStoreMutants = Readonly<Record<string, () => OpStoreHarness>>;

export function mutant(Handle: Handle): () => OpStoreHarness {
  return () => memoryOpStoreHarness(Handle);
}
