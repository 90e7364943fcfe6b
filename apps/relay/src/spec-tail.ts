/** What the specs of this app make a tail of. */
import type { Clock, Sleeper } from '@tidemark/libs-kernel';
import { SeededRandom } from '@tidemark/libs-kernel/testing';
import type { IndexedOpStore } from '@tidemark/libs-op-store-contract';
import { TailHub, TailService } from '@tidemark/libs-relay';

export interface SpecTailOptions {
  readonly opStore: IndexedOpStore;
  readonly time: Clock & Sleeper;
  readonly stopping?: AbortSignal;
  readonly strictCursor?: boolean;
  readonly readersMax?: number;
}

export function specTail({ opStore, time, ...options }: SpecTailOptions) {
  const { stopping = new AbortController().signal, strictCursor = false, readersMax = 1000 } = options;
  const counts = { waiting: 0, dropped: 0 };
  const parts = { opStore, clock: time, sleeper: time, random: new SeededRandom(1), log: { warn: () => {} }, stopping };
  const hub = new TailHub({
    ...parts,
    changes: opStore,
    broker: null,
    readersMax,
    pollMs: 200,
    heardPollMs: 2000,
    metrics: { waiting: (readers) => void (counts.waiting = readers), woken: () => {} },
  });
  const tail = new TailService({
    ...parts,
    hub,
    strictCursor,
    events: { heartbeatMs: 15_000, slowMs: 30_000 },
    metrics: { delivered: () => {}, dropped: () => void counts.dropped++ },
  });
  return { hub, tail, counts };
}
