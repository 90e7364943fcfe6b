import type { IndexedOpStore } from '@tidemark/libs-op-store-contract';
import { memoryPrefixRegistry, memoryPresenceBoard } from '@tidemark/libs-op-store-contract/testing';

/** Takes the place of the SQLite adapter in a relay: answers seqs and stores nothing. */
export async function connectSqlite() {
  const heads = new Map<string, bigint>();
  const headOf = (stream: string): bigint => heads.get(stream) ?? 0n;
  const opStore: IndexedOpStore = {
    refusal: () => null,
    async append(stream, ops) {
      const head = headOf(stream);
      heads.set(stream, head + BigInt(ops.length));
      return ops.map((_, i) => ({ kind: 'stored', seq: head + BigInt(i + 1) }));
    },
    read: async (_, after) => ({ ops: [], next: after }),
    readAhead: async () => [],
    burnedThrough: async (_, after) => after,
    floor: async () => 0n,
    seqOf: async () => null,
    head: async (stream) => headOf(stream),
    describe: async (stream) => ({ head: headOf(stream), burned: headOf(stream) }),
    erase: async () => 0n,
    streams: async () => [],
    position: async () => '0',
    changes: async (position) => ({ changed: [], position }),
    watch: async () => null,
    ping: async () => {},
    close: async () => {},
  };
  return {
    opStore,
    prefixRegistry: await memoryPrefixRegistry().open(),
    presenceBoard: await memoryPresenceBoard().open(),
    failed: new Promise<never>(() => {}),
    close: async () => {},
  };
}
