import type { IndexedOpStoreHarness, PrefixRegistryHarness, PresenceBoardHarness } from './conformance/harness.ts';
import { MemoryOpLog, MemoryOpStore } from './memory-op-store.ts';
import { type MemoryClaims, MemoryPrefixRegistry } from './memory-prefix-registry.ts';
import { type MemoryRows, MemoryPresenceBoard } from './memory-presence-board.ts';

/** The harnesses of the memory models, or of mutants of them. */
export function memoryOpStore(Handle: new (log: MemoryOpLog) => MemoryOpStore = MemoryOpStore): IndexedOpStoreHarness {
  const log = new MemoryOpLog();
  return {
    open: async () => new Handle(log),
    plant: async (stream, seq, op) => new MemoryOpStore(log).plant(stream, seq, op),
  };
}

export function memoryPrefixRegistry(
  Handle: new (claims: MemoryClaims) => MemoryPrefixRegistry = MemoryPrefixRegistry,
): PrefixRegistryHarness {
  const claims: MemoryClaims = new Map();
  return { open: async () => new Handle(claims) };
}

export function memoryPresenceBoard(
  Handle: new (rows: MemoryRows) => MemoryPresenceBoard = MemoryPresenceBoard,
): PresenceBoardHarness {
  const rows: MemoryRows = new Map();
  return { open: async () => new Handle(rows) };
}
