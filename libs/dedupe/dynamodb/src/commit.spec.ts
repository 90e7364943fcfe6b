import type { Claim } from '@tidemark/libs-dedupe-contract';
import { RecordedMetrics, ScriptedTable, keyOf, sdkError, throttle } from './spec-table.ts';

const claimOf = (id: string): Claim => ({ status: 'claimed', key: keyOf(id), token: 'aabb' });
const claims = (count: number): Claim[] => Array.from({ length: count }, (_, i) => claimOf(`${i}`));

interface Batch {
  readonly RequestItems: {
    readonly ids: { readonly PutRequest: { readonly Item: { readonly pk: { readonly S: string } } } }[];
  };
}
const requestsOf = (input: Batch) => input.RequestItems.ids;
const keysIn = (input: Batch) => requestsOf(input).map(({ PutRequest }) => PutRequest.Item.pk.S);

describe('a commit', () => {
  // kills: commit.ts: CHUNK_ITEMS = 25 => CHUNK_ITEMS = 26
  test('DDP-1: of 60 claims and a repeat is 3 batches, what each hands back is sent once more, and every key is written once', async () => {
    const asked = new Map<string, number>();
    const metrics = new RecordedMetrics();
    const table = new ScriptedTable(({ input }) => {
      for (const key of keysIn(input)) asked.set(key, (asked.get(key) ?? 0) + 1);
      const isFirst = keysIn(input).some((key) => asked.get(key) === 1);
      return isFirst ? { UnprocessedItems: { ids: requestsOf(input).slice(0, 2) } } : {};
    });
    const store = await table.open({ metrics });
    await store.commit([...claims(60), claimOf('7')], 0);
    expect(table.sent.map(({ input }) => keysIn(input).length).sort((a, b) => b - a)).toEqual([25, 25, 10, 2, 2, 2]);
    expect(asked.size).toBe(60);
    expect(metrics.unprocessedItems).toBe(6);
  });

  // kills: commit.ts: ROUNDS_MAX = 8 => ROUNDS_MAX = 7
  test('DDP-6: gives up after 8 rounds, unavailable and with an unknown outcome', async () => {
    const table = new ScriptedTable(({ input }) => ({ UnprocessedItems: input.RequestItems }));
    const store = await table.open();
    await expect(store.commit(claims(3), 0)).rejects.toMatchObject({
      code: 'unavailable',
      outcome: 'unknown',
      message: 'the dedupe table "ids" left 3 ids of a commit unwritten in 8 rounds',
    });
    expect(table.sent).toHaveLength(8);
  });

  test('DDP-6: waits between its rounds with full jitter, 25 ms doubling to 200', async () => {
    const waits: number[] = [];
    const table = new ScriptedTable(({ input }) => ({ UnprocessedItems: input.RequestItems }));
    const sleep = (ms: number, signal?: AbortSignal) => {
      if (ms >= 250) return table.time.sleep(ms, signal);
      waits.push(Math.round(ms));
      return Promise.resolve();
    };
    const store = await table.open({
      sleeper: { sleep },
      random: { bytes: (n) => new Uint8Array(n), fraction: () => 0.9999 },
    });
    await expect(store.commit(claims(1), 0)).rejects.toThrow();
    expect(waits).toEqual([25, 50, 100, 200, 200, 200, 200]);
  });

  test('DDP-6: repeats a batch whole that was throttled, or got no answer', async () => {
    const thrown = [throttle(), sdkError('TimeoutError', { $metadata: {} })];
    const table = new ScriptedTable(() => {
      const error = thrown.shift();
      if (error) throw error;
    });
    const store = await table.open({ attemptsMax: 1 });
    await store.commit(claims(3), 0);
    expect(table.sent.map(({ input }) => keysIn(input).length)).toEqual([3, 3, 3]);
  });

  // kills: commit.ts: code !== 'unavailable' => code === 'internal'
  test('DDP-6: ends at once where the table is missing, and the other batches are written all the same', async () => {
    const table = new ScriptedTable(({ input }) => {
      if (keysIn(input).includes('acme/clicks/0')) throw sdkError('ResourceNotFoundException');
    });
    const store = await table.open();
    await expect(store.commit(claims(60), 0)).rejects.toMatchObject({
      code: 'misconfigured',
      outcome: 'unknown',
      cause: { name: 'ResourceNotFoundException' },
    });
    expect(table.sent.map(({ input }) => keysIn(input).length)).toEqual([25, 25, 10]);
  });

  test('DDP-1: a repeat of an attempt writes the same items, so that one that arrives late changes nothing', async () => {
    let first = true;
    const table = new ScriptedTable(() => {
      if (!first) return;
      first = false;
      table.time.advance(7000);
      throw throttle();
    });
    const store = await table.open();
    await store.commit(claims(1), 60_000);
    expect(table.sent).toHaveLength(2);
    expect(table.sent[0]!.input).toEqual(table.sent[1]!.input);
  });
});
