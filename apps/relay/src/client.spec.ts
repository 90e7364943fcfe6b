import { type RelayClient, connectRelay, worldOf } from '@tidemark/libs-client';
import { Fault } from '@tidemark/libs-kernel';
import { MemoryOpStore, someOps } from '@tidemark/libs-op-store-contract/testing';
import type { Op } from '@tidemark/libs-wire';
import { startRelay } from './spec-relay.ts';

/** After the next commit every connection breaks, so that nobody is answered. Takes no op whose value is `too large`. */
class UnluckyStore extends MemoryOpStore {
  breaksNext = false;
  appends = 0;

  override refusal(op: Op): Fault | null {
    return op.value === 'too large' ? new Fault('too_large', `${op.opId} is too large for this store`) : null;
  }

  override async append(...args: Parameters<MemoryOpStore['append']>) {
    const outcomes = await super.append(...args);
    this.appends++;
    if (this.breaksNext) breakConnections();
    this.breaksNext = false;
    return outcomes;
  }
}

let store: UnluckyStore;
let relay: Awaited<ReturnType<typeof startRelay>>;
let client: RelayClient;

beforeEach(async () => {
  store = new UnluckyStore();
  relay = await startRelay(store);
  const retry = { backoff: { baseMs: 0, ceilingMs: 0 } };
  client = connectRelay({ ...worldOf(globalThis), url: relay.url, retry });
});
afterEach(() => relay.close());

function breakConnections(): void {
  (relay.app.getHttpServer() as { closeAllConnections(): void }).closeAllConnections();
}

async function idsOf(stream: string, since = 0n, limit = 100): Promise<string[]> {
  const ids: string[] = [];
  for await (const { ops } of client.pages(stream, since, { limit })) ids.push(...ops.map(({ opId }) => opId));
  return ids;
}

test('R23: the connection breaks after the commit; the client pushes again, is answered the old seqs, and nothing is appended', async () => {
  await client.push('s', someOps(3, 'before'));
  store.breaksNext = true;
  const ops = someOps(700, 'op');
  expect(await client.push('s', ops)).toEqual({ kind: 'pushed', stored: 700, highestSeq: 703n });
  expect(store.appends).toBe(4);
  expect(await client.push('s', ops.slice(0, 10))).toEqual({ kind: 'pushed', stored: 10, highestSeq: 13n });
  expect(await store.head('s')).toBe(703n);
});

test('R22: two clients push from the same cursor at the same time; both end with the same log, every op once', async () => {
  const push = async (prefix: string) => {
    for (let batch = 0; batch < 5; batch++) {
      expect((await client.push('s', someOps(20, `${prefix}${batch}`))).kind).toBe('pushed');
    }
  };
  await Promise.all([push('left'), push('right')]);
  const [left, right] = await Promise.all([idsOf('s', 0n, 7), idsOf('s', 0n, 100)]);
  expect(left).toEqual(right);
  expect(new Set(left).size).toBe(200);
  expect(left).toHaveLength(200);
});

test('RLY-12: an op that the store can never take is named; those before it are stored', async () => {
  const ops = someOps(9).map((op, i) => (i === 5 ? { ...op, value: 'too large' } : op));
  const outcome = await client.push('s', ops);
  expect(outcome).toMatchObject({ kind: 'op_refused', stored: 5, highestSeq: 5n, error: { status: 413 } });
  expect(outcome.kind === 'op_refused' && outcome.op).toEqual(ops[5]);
  expect(await store.head('s')).toBe(5n);
});

test('RLY-2: whatever an op holds comes back through the client', async () => {
  const [op] = someOps(1) as [Op];
  const odd = { ...op, site: -(2n ** 63n), lamport: 2n ** 63n - 1n, value: '\u0000😀"', extra: '{"n":1.0,"sig":7}' };
  await client.push('a/b', [odd]);
  expect(await client.pull('a/b', 0n)).toEqual({ ops: [odd], next: 1n });
});

test.each([['tail'], ['events']] as const)(
  'RLY-14: %s shows what is pushed after it began, also after its connection broke, every op once',
  async (way) => {
    const ends = new AbortController();
    const seen: string[] = [];
    await client.push('s', someOps(2, 'old'));
    for await (const { ops, next } of client[way]('s', 1n, { signal: ends.signal })) {
      seen.push(...ops.map(({ opId }) => opId));
      if (next === 3n) breakConnections();
      if (next === 4n) ends.abort();
      else await client.push('s', someOps(1, `new${next}`));
    }
    expect(seen).toEqual(['old-2', 'new2-1', 'new3-1']);
  },
);

test('RLY-17: a cursor above the head is told the head', async () => {
  await client.push('s', someOps(2));
  await expect(client.pull('s', 7n)).rejects.toMatchObject({ status: 409, head: 2n, outcome: 'not-done' });
  await expect(client.events('s', 7n).next()).rejects.toMatchObject({ status: 409, head: 2n });
});

test('RLY-15, RLY-19: prefixes, presence and streams', async () => {
  expect(await client.register('s', 'aaaa', 'uuid-A')).toEqual({ kind: 'registered' });
  expect(await client.register('s', 'aaaa', 'uuid-B')).toEqual({ kind: 'reassigned', newPrefix: 'd7rm' });
  expect(await client.announce('s', { machineId: 'm1', name: 'Mac', intervalSecs: 300 })).toBe(true);
  expect((await client.machines('s'))?.machines).toMatchObject([{ machineId: 'm1', name: 'Mac', intervalSecs: 300n }]);
  await client.push('s', someOps(2));
  expect(await client.streams()).toEqual({ streams: [{ stream: 's', head: 2n }], next: null });
  expect(await client.erase('s')).toEqual({ stream: 's', erased: 2n, head: 2n });
  expect(await client.describe('s')).toEqual({ stream: 's', head: 2n, burned: 2n });
});
