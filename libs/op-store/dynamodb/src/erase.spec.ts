import { anOp, readAll, someOps } from '@tidemark/libs-op-store-contract/testing';
import { claimSeq } from '@tidemark/libs-wire';
import { serverTests } from '@tidemark/tools-services/testing';
import { claimItem, type Item, itemKey } from './op-item.ts';
import { SpecStore } from './spec-store.ts';

const dynamodbTest = serverTests('dynamodb');

describe('an erasure', () => {
  dynamodbTest('RLY-19: leaves the counter, and no claim and no op', async ({ endpoint }) => {
    const spec = await SpecStore.make(endpoint);
    const { store } = spec.open();
    await store.append('s', someOps(120));
    expect(await store.erase('s')).toBe(120n);
    expect(await spec.tables.items(spec.tables.opsTable)).toEqual([{ ...itemKey('s', 0n), next_seq: { N: '120' } }]);
  });

  dynamodbTest(
    'RLY-19: removes an op and its claim in one transaction, of few enough and small enough items',
    async ({ endpoint }) => {
      const spec = await SpecStore.make(endpoint);
      const { store, client } = spec.open();
      await store.append('s', someOps(60));
      await store.append('s', [
        anOp({ opId: 'a', value: 'v'.repeat(390_000) }),
        anOp({ opId: 'b', value: 'v'.repeat(390_000) }),
      ]);
      client.counts();
      await store.erase('s');
      for (const { name, input } of client.sent) {
        if (name !== 'TransactWriteItems') continue;
        const keys = (input['TransactItems'] as { Delete: { Key: { seq: { N: string } } } }[]).map(({ Delete }) =>
          BigInt(Delete.Key.seq.N),
        );
        expect(keys.length).toBeLessThanOrEqual(100);
        expect(keys.filter((seq) => seq < 0n).length).toBe(keys.filter((seq) => seq > 0n).length);
      }
    },
  );

  dynamodbTest(
    'RLY-3, RLY-19: first raises a counter that stands behind the ops, and never lowers one',
    async ({ endpoint }) => {
      const spec = await SpecStore.make(endpoint);
      await spec.plant('behind', 7n, anOp());
      await spec.plant('ahead', 7n, anOp());
      await spec.plantCounter('ahead', 9n);
      const { store, client } = spec.open();
      client.between = async ({ name }, pass) => {
        if (name === 'TransactWriteItems') expect(await spec.counter('behind')).toBe('7');
        return pass();
      };
      expect([await store.erase('behind'), await store.erase('ahead')]).toEqual([1n, 1n]);
      expect([await spec.counter('behind'), await spec.counter('ahead')]).toEqual(['7', '9']);
      expect((await store.append('behind', someOps(1)))[0]).toEqual({ kind: 'stored', seq: 8n });
    },
  );

  dynamodbTest(
    'RLY-19: removes the ops beside a counter that is no number, and logs what it must be set to',
    async ({ endpoint }) => {
      const spec = await SpecStore.make(endpoint);
      const { store, logged } = spec.open();
      await store.append('s', someOps(3));
      await spec.put(brokenCounter('s'));
      expect(await store.erase('s')).toBe(3n);
      expect(await spec.tables.items(spec.tables.opsTable)).toEqual([brokenCounter('s')]);
      expect(logged).toMatchObject([{ level: 'warn', fields: { stream: 's', atLeast: '3' } }]);
      await expect(spec.open().store.append('s', someOps(1))).rejects.toMatchObject({ code: 'corrupt' });
    },
  );

  // kills: erase.ts: attribute_not_exists(stream_id) OR (op_id = :id AND op_seq = :seq) => attribute_not_exists(stream_id) OR attribute_exists(stream_id)
  dynamodbTest('RLY-19: leaves a claim alone that is another op’s', async ({ endpoint }) => {
    const spec = await SpecStore.make(endpoint);
    const foreign = { ...claimItem('s', 'intruder', 77n), ...itemKey('s', claimSeq('op-1')) };
    await spec.plant('s', 1n, anOp());
    await spec.put(foreign);
    expect(await spec.open().store.erase('s')).toBe(1n);
    expect(await spec.item('s', claimSeq('op-1'))).toEqual(foreign);
  });

  dynamodbTest('RLY-19: of an op that is stored twice takes its one claim along', async ({ endpoint }) => {
    const spec = await SpecStore.make(endpoint);
    await spec.plant('s', 1n, anOp({ opId: 'twice' }));
    const { store } = spec.open();
    await store.append('s', [anOp({ opId: 'twice' })]);
    expect(await store.erase('s')).toBe(2n);
    expect(await spec.item('s', claimSeq('twice'))).toBeUndefined();
  });

  dynamodbTest('RLY-19: goes on beside other transactions, and ends where it cannot', async ({ endpoint }) => {
    const spec = await SpecStore.make(endpoint);
    const { store, client } = spec.open();
    await store.append('s', someOps(3));
    let nth = 0;
    client.between = async ({ name }, pass) => {
      if (name === 'TransactWriteItems' && nth++ < 3) throw cancelled('TransactionConflict');
      return pass();
    };
    expect(await store.erase('s')).toBe(3n);
    await store.append('s', someOps(3));
    client.between = async ({ name }, pass) => {
      if (name === 'TransactWriteItems') throw cancelled('TransactionConflict');
      return pass();
    };
    await expect(store.erase('s')).rejects.toMatchObject({ code: 'unavailable', outcome: 'not-done' });
  });

  dynamodbTest('OPS-6, RLY-19: that fails half-way says so, and a repeat removes the rest', async ({ endpoint }) => {
    const spec = await SpecStore.make(endpoint);
    const { store, client } = spec.open();
    await store.append('s', someOps(90));
    let nth = 0;
    client.between = async ({ name }, pass) => {
      if (name === 'TransactWriteItems' && nth++ > 0) throw named('AccessDeniedException');
      return pass();
    };
    await expect(store.erase('s')).rejects.toMatchObject({
      code: 'misconfigured',
      outcome: 'partly',
      message: expect.stringContaining('50 ops'),
    });
    client.between = (_, pass) => pass();
    expect(await store.erase('s')).toBe(40n);
    expect(await readAll(store, 's', 10)).toEqual([]);
  });

  for (const name of ['TimeoutError', 'TransactionInProgressException'])
    dynamodbTest(`D1, D2, OPS-6: that ends with ${name} is unavailable, its outcome unknown`, async ({ endpoint }) => {
      const spec = await SpecStore.make(endpoint);
      const { store, client } = spec.open();
      await store.append('s', someOps(1));
      client.between = async (sent, pass) => {
        if (sent.name === 'TransactWriteItems') throw named(name);
        return pass();
      };
      await expect(store.erase('s')).rejects.toMatchObject({ code: 'unavailable', outcome: 'unknown' });
    });
});

describe('a list of streams', () => {
  dynamodbTest(
    'RLY-19: holds each stream once, also one whose items take more than one answer',
    async ({ endpoint }) => {
      const spec = await SpecStore.make(endpoint);
      const { store, client } = spec.open();
      for (const stream of ['a', 'large', 'z']) await store.append(stream, someOps(2, stream));
      for (const op of someOps(4, 'more')) await store.append('large', [{ ...op, value: 'v'.repeat(390_000) }]);
      client.counts();
      expect(await store.streams(null, 10)).toEqual([
        { stream: 'a', head: 2n },
        { stream: 'large', head: 6n },
        { stream: 'z', head: 2n },
      ]);
      expect(client.counts()['Scan']).toBeGreaterThan(1);
      expect(await store.streams(null, 0)).toEqual([]);
    },
  );

  // kills: streams.ts: if (!isCorrupt(thrown)) throw thrown; => throw thrown;
  dynamodbTest(
    'RLY-17: shows a stream whose counter is no number with its newest op, beside the others, and logs it',
    async ({ endpoint }) => {
      const spec = await SpecStore.make(endpoint);
      const { store, logged } = spec.open();
      for (const stream of ['a', 'broken', 'c']) await store.append(stream, someOps(2));
      await spec.put(brokenCounter('broken'));
      expect(await store.streams(null, 10)).toEqual(['a', 'broken', 'c'].map((stream) => ({ stream, head: 2n })));
      expect(logged).toMatchObject([{ level: 'warn', fields: { stream: 'broken' } }]);
      await expect(store.head('broken')).rejects.toMatchObject({ code: 'corrupt' });
    },
  );

  dynamodbTest('RLY-19: leaves an erased stream out, and takes the next one', async ({ endpoint }) => {
    const { store } = (await SpecStore.make(endpoint)).open();
    for (const stream of ['a', 'b', 'c']) await store.append(stream, someOps(1, stream));
    await store.erase('a');
    expect((await store.streams(null, 2)).map(({ stream }) => stream)).toEqual(['b', 'c']);
  });
});

describe('the head of a stream', () => {
  dynamodbTest(
    'RLY-17: is its newest op where the counter stands behind it, and the counter where that is ahead',
    async ({ endpoint }) => {
      const spec = await SpecStore.make(endpoint);
      await spec.plant('behind', 7n, anOp());
      await spec.plantCounter('behind', 3n);
      await spec.plant('ahead', 7n, anOp());
      await spec.plantCounter('ahead', 9n);
      const { store } = spec.open();
      expect([await store.head('behind'), await store.head('ahead')]).toEqual([7n, 9n]);
      expect(await store.describe('ahead')).toEqual({ head: 9n, burned: 8n });
    },
  );
});

function brokenCounter(stream: string): Item {
  return { ...itemKey(stream, 0n), next_seq: { S: 'four' } };
}

function named(name: string): Error {
  return Object.assign(new Error(`said by the test: ${name}`), { name, $metadata: { attempts: 1 } });
}

function cancelled(Code: string): Error {
  return Object.assign(named('TransactionCanceledException'), { CancellationReasons: [{ Code }] });
}
