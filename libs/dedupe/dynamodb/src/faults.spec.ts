import { setImmediate } from 'node:timers/promises';
import type { Deduplicator } from '@tidemark/libs-dedupe-contract';
import {
  type FaultProxy,
  callsOf,
  deny,
  fail,
  first,
  hold,
  leaveUnprocessed,
  loseAnswer,
  serverTests,
  startFaultProxy,
  throttle,
} from '@tidemark/tools-services/testing';
import { LEASE_MS, RecordedLog, RecordedMetrics, SpecTable, keyOf, keysOf, statuses } from './spec-table.ts';

const dynamodbTest = serverTests('dynamodb');

interface Scene {
  readonly proxy: FaultProxy;
  readonly table: SpecTable;
  readonly store: Deduplicator;
  readonly metrics: RecordedMetrics;
}

/** A store on a table of its own, behind the fault proxy. */
function proxiedTest(title: string, run: (scene: Scene) => Promise<void>): void {
  dynamodbTest(
    title,
    async ({ endpoint }) => {
      const proxy = await startFaultProxy(endpoint);
      try {
        const table = await SpecTable.make(proxy.endpoint);
        const metrics = new RecordedMetrics();
        const store = await table.open({ metrics });
        proxy.traffic();
        metrics.requests.splice(0);
        await run({ proxy, table, store, metrics });
        proxy.clear();
        await store.close();
      } finally {
        await proxy.close();
      }
    },
    120_000,
  );
}

const puts = callsOf('PutItem');
const deletes = callsOf('DeleteItem');
const batches = callsOf('BatchWriteItem');
const UNAVAILABLE = { code: 'unavailable' };

describe('a reserve', () => {
  proxiedTest(
    'DDP-6: a throttled put is tried again; one that stays throttled is unavailable and holds nothing',
    async (scene) => {
      const { proxy, store, metrics } = scene;
      proxy.add(throttle(first(2, puts)));
      expect(statuses(await store.reserve([keyOf('a')], LEASE_MS))).toEqual(['claimed']);
      expect(proxy.traffic().requests).toEqual({ PutItem: 3 });
      proxy.add(throttle(puts));
      await expect(store.reserve([keyOf('b'), keyOf('c')], LEASE_MS)).rejects.toMatchObject({
        ...UNAVAILABLE,
        cause: { name: 'ProvisionedThroughputExceededException' },
      });
      proxy.clear();
      expect(statuses(await store.reserve([keyOf('b'), keyOf('c')], LEASE_MS))).toEqual(['claimed', 'claimed']);
      expect(metrics.requests.filter((request) => request.startsWith('put_item')).sort()).toEqual(
        ['ok', 'ok', 'ok', 'unavailable', 'unavailable'].map((outcome) => `put_item ${outcome}`),
      );
    },
  );

  // kills: item.ts: toString('hex') === token ? 'claimed' => toString('hex') === token ? 'in_flight'
  proxiedTest(
    'DDP-2: a claim whose answer was lost is known again by its own token',
    async ({ proxy, store, table }) => {
      proxy.add(loseAnswer(first(1, puts)));
      const claims = await store.reserve([keyOf('a')], LEASE_MS);
      expect(statuses(claims)).toEqual(['claimed']);
      expect(proxy.traffic().requests).toEqual({ PutItem: 2 });
      expect(statuses(await store.reserve([keyOf('a')], LEASE_MS))).toEqual(['in_flight']);
      await store.release(claims);
      expect(await table.items()).toEqual([]);
    },
  );

  proxiedTest('DDP-1: claims whose answers were all lost are given up', async ({ proxy, store, table }) => {
    proxy.add(loseAnswer(puts));
    await expect(store.reserve(keysOf(3), LEASE_MS)).rejects.toMatchObject({ ...UNAVAILABLE, outcome: 'not-done' });
    expect(await table.items()).toEqual([]);
  });

  proxiedTest(
    'DDP-6: a put that is answered too late is unavailable; what it left lapses with its lease',
    async (scene) => {
      const { proxy, store, table } = scene;
      const held = hold(puts);
      proxy.add(held.rule);
      const reserving = store.reserve([keyOf('a')], LEASE_MS);
      await held.arrived;
      table.time.advance(250);
      await expect(reserving).rejects.toMatchObject({ ...UNAVAILABLE, cause: { name: 'DeadlinePassed' } });
      held.release();
      while ((await table.items()).length === 0) await setImmediate();
      expect(statuses(await store.reserve([keyOf('a')], LEASE_MS))).toEqual(['in_flight']);
      table.time.advance(LEASE_MS + 1000);
      expect(statuses(await store.reserve([keyOf('a')], LEASE_MS))).toEqual(['claimed']);
    },
  );

  proxiedTest('I4: a reserve that cannot give up its claims leaves them to lapse', async ({ proxy, store, table }) => {
    const isC = first(
      9,
      ({ name, actions }) => name === 'PutItem' && actions[0]?.item?.['pk']?.['S'] === 'acme/clicks/c',
    );
    proxy.add(throttle(isC));
    proxy.add(throttle(deletes));
    await expect(store.reserve([keyOf('a'), keyOf('c')], LEASE_MS)).rejects.toMatchObject(UNAVAILABLE);
    proxy.clear();
    expect(statuses(await store.reserve([keyOf('a'), keyOf('c')], LEASE_MS))).toEqual(['in_flight', 'claimed']);
    table.time.advance(LEASE_MS + 1000);
    expect(statuses(await store.reserve([keyOf('a')], LEASE_MS))).toEqual(['claimed']);
  });
});

describe('commit and release', () => {
  proxiedTest('DDP-3: what a batch hands back is written in later rounds', async ({ proxy, store, metrics }) => {
    const claims = await store.reserve(keysOf(30), LEASE_MS);
    proxy.add(leaveUnprocessed(1, first(4, batches)));
    await store.commit(claims, 0);
    expect(metrics.unprocessedItems).toBeGreaterThan(0);
    expect(new Set(statuses(await store.reserve(keysOf(30), LEASE_MS)))).toEqual(new Set(['duplicate']));
  });

  proxiedTest('DDP-3: a commit is repeated while it is throttled or its answer is lost', async ({ proxy, store }) => {
    const claims = await store.reserve(keysOf(30), LEASE_MS);
    proxy.add(throttle(first(7, batches)));
    proxy.add(loseAnswer(first(2, batches)));
    await store.commit(claims, 0);
    expect(new Set(statuses(await store.reserve(keysOf(30), LEASE_MS)))).toEqual(new Set(['duplicate']));
  });

  proxiedTest(
    'DDP-6: a commit that stays throttled is unavailable with an unknown outcome, and can be repeated',
    async (scene) => {
      const { proxy, store } = scene;
      const claims = await store.reserve(keysOf(2), LEASE_MS);
      proxy.add(throttle(batches));
      await expect(store.commit(claims, 0)).rejects.toMatchObject({
        ...UNAVAILABLE,
        outcome: 'unknown',
        cause: { cause: { name: 'ProvisionedThroughputExceededException' } },
      });
      expect(proxy.traffic().requests['BatchWriteItem']).toBe(24);
      proxy.clear();
      await store.commit(claims, 0);
      expect(statuses(await store.reserve(keysOf(2), LEASE_MS))).toEqual(['duplicate', 'duplicate']);
    },
  );

  proxiedTest('DDP-4: a release whose answer was lost is a release', async ({ proxy, store, metrics }) => {
    const claims = await store.reserve([keyOf('a')], LEASE_MS);
    proxy.add(loseAnswer(first(1, deletes)));
    await store.release(claims);
    expect(metrics.requests.at(-1)).toBe('delete_item condition_failed');
    expect(statuses(await store.reserve([keyOf('a')], LEASE_MS))).toEqual(['claimed']);
  });

  proxiedTest(
    'DDP-6: a right that is taken away, or a table, is misconfigured, and says so without an address',
    async (scene) => {
      const { proxy, store, table } = scene;
      const claims = await store.reserve([keyOf('a')], LEASE_MS);
      const calls: [string, () => Promise<unknown>][] = [
        ['PutItem', () => store.reserve([keyOf('b')], LEASE_MS)],
        ['BatchWriteItem', () => store.commit(claims, 0)],
        ['DeleteItem', () => store.release(claims)],
        ['DeleteItem', () => store.ping()],
      ];
      for (const [action, call] of calls) {
        const allow = proxy.add(deny(action));
        await expect(call()).rejects.toMatchObject({
          code: 'misconfigured',
          message: `the dedupe table "${table.name}" does not allow this (AccessDeniedException)`,
          cause: { name: 'AccessDeniedException' },
        });
        allow();
      }
      await table.drop();
      for (const [, call] of calls)
        await expect(call()).rejects.toMatchObject({
          code: 'misconfigured',
          message: `the dedupe table "${table.name}" is not there (ResourceNotFoundException)`,
        });
    },
  );
});

describe('the start', () => {
  const rights = ['DescribeTable', 'DescribeTimeToLive', 'PutItem', 'DeleteItem', 'BatchWriteItem'];
  for (const action of rights)
    // kills: check-table.ts: if (denials.length > 0) throw denialOf(calls.table, denials) => if (denials.length > 9) throw denialOf(calls.table, denials)
    proxiedTest(
      `DDP-6: without the right ${action} the store refuses to open, and names it`,
      async ({ proxy, table }) => {
        proxy.add(deny(action));
        await expect(table.open()).rejects.toMatchObject({
          code: 'misconfigured',
          message: `dynamodb:${action} is not allowed on the dedupe table "${table.name}"`,
        });
        expect(await table.items()).toEqual([]);
      },
    );

  // kills: opening.ts: if (opening.#fault.code !== 'unavailable') throw opening.#fault => throw opening.#fault
  proxiedTest(
    'DDP-6: a table that is throttled or failing does not stop it: calls are unavailable until it was seen',
    async (scene) => {
      const { proxy, table } = scene;
      for (const rule of [throttle(callsOf('DescribeTable')), fail(puts, 'InternalServerError', 500)]) {
        const log = new RecordedLog();
        const remove = proxy.add(rule);
        const store = await table.open({ log });
        expect(log.warnings).toEqual(['the dedupe store is not open yet']);
        for (const call of [() => store.reserve([keyOf('a')], LEASE_MS), () => store.ping()])
          await expect(call()).rejects.toMatchObject(UNAVAILABLE);
        remove();
        await expect(store.ping()).rejects.toMatchObject(UNAVAILABLE);
        table.time.advance(2000);
        while (log.infos.length === 0) await setImmediate();
        await store.ping();
        await store.close();
      }
    },
  );

  proxiedTest(
    'DDP-6: a table that turns out wrong in the background is misconfigured from then on, until it is right',
    async (scene) => {
      const { proxy, table } = scene;
      const throttled = proxy.add(throttle(callsOf('DescribeTable')));
      const log = new RecordedLog();
      const store = await table.open({ log });
      const denied = proxy.add(deny('DescribeTable'));
      throttled();
      table.time.advance(2000);
      const codeOf = () =>
        store.ping().then(
          () => 'open',
          (fault) => fault.code,
        );
      while ((await codeOf()) !== 'misconfigured') await setImmediate();
      denied();
      table.time.advance(30_000);
      while ((await codeOf()) !== 'open') await setImmediate();
    },
  );

  proxiedTest('DDP-6: a store that is closed before it opened looks no more', async ({ proxy, table }) => {
    proxy.add(throttle(callsOf('DescribeTable')));
    const store = await table.open();
    await store.close();
    expect(table.time.sleepers).toBe(0);
  });

  dynamodbTest('DDP-6: a DynamoDB that is out of reach does not stop it', async ({ endpoint }) => {
    const proxy = await startFaultProxy(endpoint);
    const table = await SpecTable.make(proxy.endpoint);
    await proxy.close();
    const store = await table.open();
    await expect(store.reserve([keyOf('a')], LEASE_MS)).rejects.toMatchObject({
      ...UNAVAILABLE,
      message: expect.stringMatching(/^the dedupe table "[\w-]+" does not answer \(\w+\)$/),
    });
    await store.close();
  });
});
