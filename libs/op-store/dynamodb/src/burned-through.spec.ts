import { anOp, someOps } from '@tidemark/libs-op-store-contract/testing';
import { claimSeq } from '@tidemark/libs-wire';
import { serverTests } from '@tidemark/tools-services/testing';
import { claimItem } from './op-item.ts';
import { SpecStore } from './spec-store.ts';

const dynamodbTest = serverTests('dynamodb');

const JUDGE = 'TransactGetItems';

/** A stream `s` with ops at those seqs alone, and that counter. */
async function withOps(endpoint: string, seqs: readonly number[], counter: bigint): Promise<SpecStore> {
  const spec = await SpecStore.make(endpoint);
  for (const seq of seqs) await spec.plant('s', BigInt(seq), anOp({ opId: `op-${seq}` }));
  await spec.plantCounter('s', counter);
  return spec;
}

function cancelled(code: string): Error {
  const CancellationReasons = [{ Code: code }, { Code: 'None' }];
  return Object.assign(new Error('said by the test'), {
    name: 'TransactionCanceledException',
    $metadata: {},
    CancellationReasons,
  });
}

describe('a burned tail', () => {
  dynamodbTest(
    'FLD-3: is proved by one snapshot of the counter and the seqs, counted, logged and remembered',
    async ({ endpoint }) => {
      const { store, client, holes, logged } = (await withOps(endpoint, [1, 2], 5n)).open();
      expect(await store.burnedThrough('s', 2n)).toBe(5n);
      const { input } = client.sent.find(({ name }) => name === JUDGE)!;
      expect(JSON.stringify(input).match(/"N":"\d+"/g)).toEqual(['0', '3', '4', '5'].map((seq) => `"N":"${seq}"`));
      expect(client.counts()).toEqual({ Query: 2, [JUDGE]: 1 });
      expect(holes).toEqual([['burned', 3]]);
      expect(logged).toEqual([{ level: 'info', fields: { stream: 's', from: '3', to: '5' }, message: 'burned seqs' }]);
      expect(await store.burnedThrough('s', 2n)).toBe(5n);
      expect(client.counts()).toEqual({ Query: 2 });
    },
  );

  dynamodbTest('FLD-3: at the head costs two Queries, and nothing is judged', async ({ endpoint }) => {
    const { store, client } = (await withOps(endpoint, [1, 2], 2n)).open();
    expect(await store.burnedThrough('s', 2n)).toBe(2n);
    expect(client.counts()).toEqual({ Query: 2 });
  });

  dynamodbTest('FLD-3: of 250 seqs is proved in three calls', async ({ endpoint }) => {
    const { store } = (await withOps(endpoint, [1], 251n)).open();
    const calls: bigint[] = [];
    for (let through = 1n; through < 251n; calls.push(through)) through = await store.burnedThrough('s', through);
    expect(calls).toEqual([100n, 199n, 251n]);
  });

  // kills: burned-through.ts: seq > next || => false ||
  dynamodbTest(
    'FLD-1: that is being written is not proved, nor one that the counter of the snapshot has not given',
    async ({ endpoint }) => {
      const spec = await withOps(endpoint, [1], 9n);
      const { store, client } = spec.open();
      client.between = async ({ name }, pass) => {
        if (name === JUDGE) throw cancelled('TransactionConflict');
        return pass();
      };
      expect(await store.burnedThrough('s', 1n)).toBe(1n);
      client.between = async ({ name }, pass) => {
        if (name === JUDGE) await spec.plantCounter('s', 4n);
        return pass();
      };
      expect(await store.burnedThrough('s', 1n)).toBe(4n);
    },
  );

  dynamodbTest('FLD-1: in which an op appears is proved below it alone', async ({ endpoint }) => {
    const spec = await withOps(endpoint, [1], 5n);
    const { store, client } = spec.open();
    client.between = async ({ name }, pass) => {
      if (name === JUDGE) await spec.plant('s', 4n, anOp({ opId: 'late' }));
      return pass();
    };
    expect(await store.burnedThrough('s', 1n)).toBe(3n);
  });

  dynamodbTest('RLY-9: whose judgement is refused for good is a fault, not a hole', async ({ endpoint }) => {
    const { store, client } = (await withOps(endpoint, [1], 5n)).open();
    client.between = async ({ name }, pass) => {
      if (name === JUDGE) throw cancelled('AccessDenied');
      return pass();
    };
    await expect(store.burnedThrough('s', 1n)).rejects.toMatchObject({ code: 'internal' });
  });
});

describe('a hole below an op', () => {
  dynamodbTest('FLD-2: is proved with the op as its witness, and the counter read afterwards', async ({ endpoint }) => {
    const { store, client } = (await withOps(endpoint, [1, 5], 5n)).open();
    expect(await store.burnedThrough('s', 1n)).toBe(4n);
    expect(client.sent.map(({ name }) => name)).toEqual(['Query', JUDGE, 'Query']);
  });

  dynamodbTest('FLD-2: that the counter stands behind is not proved', async ({ endpoint }) => {
    const { store } = (await withOps(endpoint, [1, 5], 3n)).open();
    expect(await store.burnedThrough('s', 1n)).toBe(1n);
  });
});

describe('a table that ADD-allocating writers still write', () => {
  const holding = { holes: 'hold', patienceMs: 10_000 } as const;

  // kills: gap-check.ts: if (parts.holes === 'hold') { => if (false) {
  dynamodbTest('FLD-2: has no burned seq: a page ends at every hole, at once', async ({ endpoint }) => {
    const { store, client, time } = (await withOps(endpoint, [1, 3, 4], 4n)).open(holding);
    expect(await store.read('s', 0n, 10)).toMatchObject({ ops: [{ seq: 1n }], next: 1n });
    expect(await store.read('s', 1n, 10)).toEqual({ ops: [], next: 1n });
    expect(client.counts()).toEqual({ Query: 2 });
    expect(time.slept).toEqual([]);
  });

  // kills: burned-through.ts: if (parts.holes === 'hold') return after; => void 0;
  dynamodbTest('FLD-2: proves nothing, neither in between nor at the end', async ({ endpoint }) => {
    const { store } = (await withOps(endpoint, [1, 3], 9n)).open(holding);
    expect([await store.burnedThrough('s', 1n), await store.burnedThrough('s', 3n)]).toEqual([1n, 3n]);
    expect((await store.readAhead('s', 0n, 10)).map(({ seq }) => seq)).toEqual([1n, 3n]);
  });
});

describe('a truncated stream', () => {
  dynamodbTest('FLD-1: tells its floor, and no seq at or below it is burned', async ({ endpoint }) => {
    const spec = await withOps(endpoint, [5, 6], 9n);
    await spec.put({ stream_id: { S: 's' }, seq: { N: '0' }, next_seq: { N: '9' }, truncated_through: { N: '4' } });
    await spec.put({ stream_id: { S: 'all' }, seq: { N: '0' }, next_seq: { N: '9' }, truncated_through: { N: '9' } });
    const { store } = spec.open();
    expect([await store.floor('s'), await store.floor('all')]).toEqual([4n, 9n]);
    for (const stream of ['s', 'all'])
      await expect(store.burnedThrough(stream, 0n)).rejects.toMatchObject({ code: 'conflict' });
    expect(await store.burnedThrough('s', 4n)).toBe(4n);
    expect(await store.burnedThrough('s', 6n)).toBe(9n);
  });
});

describe('a look ahead', () => {
  dynamodbTest('FLD-2: goes on through the 1 MB of one answer of the table', async ({ endpoint }) => {
    const { store, client } = (await SpecStore.make(endpoint)).open();
    await store.append(
      's',
      someOps(40).map((op) => ({ ...op, value: 'v'.repeat(30_000) })),
    );
    client.counts();
    expect(await store.readAhead('s', 0n, 100)).toHaveLength(40);
    expect(client.counts()).toEqual({ Query: 2 });
  });
});

describe('the place of an op', () => {
  dynamodbTest('FLD-8: is told by its claim once the op itself is shown', async ({ endpoint }) => {
    const spec = await withOps(endpoint, [1, 2], 3n);
    const { store, client } = spec.open();
    for (const [opId, seq] of [
      ['op-2', 2n],
      ['op-3', 3n],
      ['other', 1n],
    ] as const)
      await spec.put(claimItem('s', opId, seq));
    await spec.put({ ...claimItem('s', 'foreign', 1n), seq: { N: String(claimSeq('op-1')) } });
    const found = await Promise.all(['op-2', 'op-3', 'other', 'op-1', 'never'].map((opId) => store.seqOf('s', opId)));
    expect(found).toEqual([2n, null, null, null, null]);
    client.counts();
    await store.seqOf('s', 'op-2');
    expect(client.counts()).toEqual({ GetItem: 1, Query: 1 });
  });
});
