import { ManualTime, SeededRandom } from '@tidemark/libs-kernel/testing';
import type { PrefixRegistry } from '@tidemark/libs-op-store-contract';
import {
  type FaultProxy,
  callsOf,
  cancel,
  deny,
  fail,
  first,
  loseAnswer,
  serverTests,
  startFaultProxy,
} from '@tidemark/tools-services/testing';
import { dynamodbPrefixRegistry } from './prefix-registry.ts';
import { type SpecTables, specClient, specTables } from './spec-tables.ts';

const dynamodbTest = serverTests('dynamodb');
const claims = callsOf('TransactWriteItems');

interface Scene {
  readonly registry: PrefixRegistry;
  readonly tables: SpecTables;
  readonly proxy: FaultProxy;
  readonly time: ManualTime;
  /** How long each wait was. */
  readonly waits: number[];
}

/** A registry behind a fault proxy; whoever waits waits no longer than time is moved. */
function registryTest(title: string, run: (scene: Scene) => Promise<void>, candidatesMax = 100_000): void {
  dynamodbTest(title, async ({ endpoint }) => {
    const proxy = await startFaultProxy(endpoint);
    try {
      const tables = await specTables(endpoint);
      const time = new ManualTime();
      const waits: number[] = [];
      const sleeper = { sleep: async (ms: number) => void waits.push(ms) };
      const client = specClient(proxy.endpoint);
      const parts = { client, table: tables.registryTable, clock: time, sleeper, random: new SeededRandom(7) };
      await run({ registry: dynamodbPrefixRegistry(parts, candidatesMax), tables, proxy, time, waits });
    } finally {
      await proxy.close();
    }
  });
}

const REGISTERED = { outcome: 'registered' };
const reassigned = (newPrefix: string) => ({ outcome: 'reassigned', newPrefix });

registryTest('RLY-15: a claim is two rows, as other relays write them', async ({ registry, tables }) => {
  await registry.register('s', 'aaaa', 'uuid-A');
  await registry.register('s', 'aaaa', 'uuid-B');
  expect(await tables.items(tables.registryTable)).toEqual(
    expect.arrayContaining([
      { stream_id: { S: 's' }, sk: { S: 'prefix#aaaa' }, replica_uuid: { S: 'uuid-A' } },
      { stream_id: { S: 's' }, sk: { S: 'uuid#uuid-A' }, prefix: { S: 'aaaa' } },
      { stream_id: { S: 's' }, sk: { S: 'prefix#d7rm' }, replica_uuid: { S: 'uuid-B' } },
      { stream_id: { S: 's' }, sk: { S: 'uuid#uuid-B' }, prefix: { S: 'd7rm' } },
    ]),
  );
});

registryTest('RLY-15: claims that another relay wrote are kept', async ({ registry, tables }) => {
  const { registryTable: table } = tables;
  await tables.put(table, { stream_id: { S: 's' }, sk: { S: 'prefix#aaaa' }, replica_uuid: { S: 'uuid-A' } });
  await tables.put(table, { stream_id: { S: 's' }, sk: { S: 'uuid#uuid-A' }, prefix: { S: 'aaaa' } });
  expect(await registry.register('s', 'aaaa', 'uuid-B')).toEqual(reassigned('d7rm'));
  expect(await registry.register('s', 'bbbb', 'uuid-A')).toEqual(reassigned('aaaa'));
});

// kills: prefix-registry.ts: Key, ConsistentRead: true => Key
registryTest('RLY-15: a known replica costs one read, a strong one', async ({ registry, proxy }) => {
  await registry.register('s', 'aaaa', 'uuid-A');
  proxy.traffic();
  proxy.add(async (call, forward) => {
    expect(call.body).toHaveProperty('ConsistentRead', true);
    return forward(call);
  });
  await registry.register('s', 'aaaa', 'uuid-A');
  expect(proxy.traffic().requests).toEqual({ GetItem: 1 });
});

// kills: prefix-registry.ts: if (kind === 'own') return ownPrefix(parts, stream, replicaUuid); => if (kind === 'own') return null;
registryTest('RLY-15: a replica that races itself gets the prefix it won, never a second one', async (scene) => {
  const { registry, tables, proxy } = scene;
  const atOnce = first(1, claims);
  proxy.add(async (call, forward) => {
    if (atOnce(call)) {
      const key = { stream_id: { S: 's' } };
      await tables.put(tables.registryTable, { ...key, sk: { S: 'prefix#zzzz' }, replica_uuid: { S: 'uuid-A' } });
      await tables.put(tables.registryTable, { ...key, sk: { S: 'uuid#uuid-A' }, prefix: { S: 'zzzz' } });
    }
    return forward(call);
  });
  expect(await registry.register('s', 'aaaa', 'uuid-A')).toEqual(reassigned('zzzz'));
  expect(proxy.traffic().requests).toEqual({ GetItem: 2, TransactWriteItems: 1 });
});

registryTest(
  'RLY-15: a claim whose answer is lost is answered as it was stored',
  async ({ registry, proxy, tables }) => {
    proxy.add(loseAnswer(first(1, claims)));
    expect(await registry.register('s', 'aaaa', 'uuid-A')).toEqual(REGISTERED);
    expect(await tables.items(tables.registryTable)).toHaveLength(2);
  },
);

registryTest('RLY-15: a claim that nobody answers may be stored, and the next call finds it', async (scene) => {
  const { registry, proxy } = scene;
  const heal = proxy.add(loseAnswer(claims));
  await expect(registry.register('s', 'aaaa', 'uuid-A')).rejects.toMatchObject({
    code: 'unavailable',
    outcome: 'unknown',
  });
  heal();
  expect(await registry.register('s', 'aaaa', 'uuid-A')).toEqual(REGISTERED);
});

registryTest('D2, OPS-6: a claim that is still being stored is unavailable, its outcome unknown', async (scene) => {
  const { registry, proxy } = scene;
  const heal = proxy.add(fail(claims, 'TransactionInProgressException'));
  await expect(registry.register('s', 'aaaa', 'uuid-A')).rejects.toMatchObject({
    code: 'unavailable',
    outcome: 'unknown',
    retryAfterMs: 1000,
  });
  heal();
  expect(await registry.register('s', 'aaaa', 'uuid-A')).toEqual(REGISTERED);
});

// kills: prefix-registry.ts: if (retries === CLAIM_RETRIES_MAX) => if (retries === CLAIM_RETRIES_MAX - 1)
registryTest('RLY-15: a claim that meets others is sent again, five times, for the same prefix', async (scene) => {
  const { registry, proxy, waits, tables } = scene;
  proxy.add(cancel(first(5, claims), ['TransactionConflict', 'None']));
  expect(await registry.register('s', 'aaaa', 'uuid-A')).toEqual(REGISTERED);
  expect(proxy.traffic().requests).toMatchObject({ TransactWriteItems: 6 });
  expect(waits).toHaveLength(5);
  expect(await tables.items(tables.registryTable)).toHaveLength(2);
});

registryTest(
  'RLY-15: a sixth refusal in a row ends the call, and its waits differ and add up to less than 250 ms',
  async (scene) => {
    const { registry, proxy, waits } = scene;
    const heal = proxy.add(cancel(claims, ['None', 'ThrottlingError']));
    await expect(registry.register('s', 'aaaa', 'uuid-A')).rejects.toMatchObject({
      code: 'unavailable',
      outcome: 'not-done',
      message: expect.stringContaining('6 times in a row'),
    });
    expect(proxy.traffic().requests).toMatchObject({ TransactWriteItems: 6 });
    expect(waits.reduce((sum, ms) => sum + ms)).toBeLessThan(250);
    expect(new Set(waits).size).toBe(5);
    heal();
    expect(await registry.register('s', 'aaaa', 'uuid-A')).toEqual(REGISTERED);
  },
);

registryTest(
  'RLY-15: what is certain is not sent again',
  async ({ registry, proxy, waits }) => {
    proxy.add(cancel(claims, ['ConditionalCheckFailed', 'ThrottlingError']));
    await expect(registry.register('s', 'aaaa', 'uuid-A')).rejects.toThrow('prefix space exhausted');
    expect(waits).toEqual([]);
    // The asked one and each candidate, once.
    expect(proxy.traffic().requests).toMatchObject({ TransactWriteItems: 4 });
  },
  3,
);

// kills: prefix-registry.ts: if (clock.monotonic() >= endsAtMs) throw overBudget(); => {}
registryTest(
  'RLY-15: a call ends after five seconds, between two candidates',
  async ({ registry, proxy, time }) => {
    proxy.add(cancel(claims, ['ConditionalCheckFailed', 'None']));
    proxy.add(async (call, forward) => {
      const answer = await forward(call);
      if (claims(call)) time.advance(1000);
      return answer;
    });
    await expect(registry.register('s', 'aaaa', 'uuid-A')).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('5000 ms'),
    });
    expect(proxy.traffic().requests).toMatchObject({ TransactWriteItems: 5 });
  },
  50,
);

registryTest('RLY-15: any other refusal is a fault at once, with its codes', async ({ registry, proxy, waits }) => {
  proxy.add(cancel(claims, ['ValidationError', 'None']));
  await expect(registry.register('s', 'aaaa', 'uuid-A')).rejects.toMatchObject({
    code: 'internal',
    outcome: 'not-done',
    message: expect.stringContaining('ValidationError'),
  });
  expect(waits).toEqual([]);
});

registryTest('RLY-15: a claim without its prefix is a loud error', async ({ registry, tables }) => {
  await tables.put(tables.registryTable, { stream_id: { S: 's' }, sk: { S: 'uuid#uuid-A' }, prefix: { N: '1' } });
  await expect(registry.register('s', 'aaaa', 'uuid-A')).rejects.toMatchObject({ code: 'corrupt' });
});

registryTest('RLY-15: what the table cannot hold is refused before anything is sent', async ({ registry, proxy }) => {
  for (const stream of ['', 'x'.repeat(2049)])
    await expect(registry.register(stream, 'aaaa', 'uuid-A')).rejects.toMatchObject({ code: 'malformed' });
  await expect(registry.register('s', 'aaaa', 'u'.repeat(200_000))).rejects.toMatchObject({ code: 'invalid' });
  expect(proxy.traffic().requests).toEqual({});
});

registryTest('RLY-15: a right that is taken away while the relay runs is named', async ({ registry, proxy }) => {
  for (const action of ['GetItem', 'PutItem']) {
    const allow = proxy.add(deny(action));
    await expect(registry.register('s', 'aaaa', 'uuid-A')).rejects.toMatchObject({
      code: 'misconfigured',
      message: expect.stringContaining(`dynamodb:${action}`),
    });
    allow();
  }
  expect(await registry.register('s', 'aaaa', 'uuid-A')).toEqual(REGISTERED);
});

registryTest('RLY-15: an absent table and a broken server are told apart', async ({ registry, proxy }) => {
  const heal = proxy.add(fail(() => true, 'ResourceNotFoundException'));
  await expect(registry.register('s', 'a', 'A')).rejects.toMatchObject({ code: 'misconfigured' });
  heal();
  proxy.add(fail(() => true, 'InternalServerError', 500));
  await expect(registry.register('s', 'a', 'A')).rejects.toMatchObject({ code: 'unavailable' });
});
