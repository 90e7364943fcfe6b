import { Fault } from '@tidemark/libs-kernel';
import { ManualTime, SeededRandom } from '@tidemark/libs-kernel/testing';
import type { DedupeHarness } from './conformance.ts';
import type { Deduplicator } from './deduplicator.ts';
import { MemoryDedupeStore } from './memory-dedupe-store.ts';
import { MemoryDeduplicator } from './memory-deduplicator.ts';

/** What a model is made of; a mutant changes one of the two. */
export interface MemoryParts {
  readonly Store: new (...options: ConstructorParameters<typeof MemoryDedupeStore>) => MemoryDedupeStore;
  readonly connect: (store: MemoryDedupeStore) => Deduplicator;
}

export const soundParts: MemoryParts = {
  Store: MemoryDedupeStore,
  connect: (store) => new MemoryDeduplicator(store),
};

export function memoryHarness({ Store, connect }: MemoryParts = soundParts): DedupeHarness {
  const time = new ManualTime();
  const store = new Store({ clock: time, random: new SeededRandom(7) });
  return {
    manifest: { sharedAcrossProcesses: true, expiryRoundsUpMs: 0 },
    time,
    open: async () => connect(store),
    breakNextReserve: () => failSecondLook(store),
  };
}

function failSecondLook(store: MemoryDedupeStore): void {
  const look = store.look;
  let looks = 0;
  store.look = (stored) => {
    if (++looks < 2) return look.call(store, stored);
    store.look = look;
    throw new Fault('unavailable', 'the store was told to fail');
  };
}
