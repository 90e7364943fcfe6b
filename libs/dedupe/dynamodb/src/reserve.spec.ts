import { committedItem } from './item.ts';
import {
  LEASE_MS,
  RecordedMetrics,
  ScriptedTable,
  conditionFailed,
  keyNameOf,
  keyOf,
  keysOf,
  sdkError,
  statuses,
  throttle,
} from './spec-table.ts';

const COMMITTED = committedItem('any', 'aa', null);

describe('a reserve', () => {
  // kills: slots.ts: if (this.#free > 0) this.#free--; => if (true) this.#free--;
  test('DDP-1: sends at most 64 puts at once, of all reserves together', async () => {
    let [running, most] = [0, 0];
    const table = new ScriptedTable(async () => {
      most = Math.max(most, ++running);
      await Promise.resolve();
      running--;
    });
    const store = await table.open();
    await Promise.all([store.reserve(keysOf(200), LEASE_MS), store.reserve([keyOf('a'), keyOf('b')], LEASE_MS)]);
    expect(most).toBe(64);
    expect(table.sent).toHaveLength(202);
  });

  test('DDP-1: is a put for each key with a token of its own, under a condition on what stands there', async () => {
    const table = new ScriptedTable();
    const store = await table.open();
    await store.reserve(keysOf(2), LEASE_MS);
    const nowS = table.time.now() / 1000;
    expect(table.sent.map(({ input }) => input)).toEqual(
      ['0', '1'].map((id) => ({
        TableName: 'ids',
        Item: {
          pk: { S: `acme/clicks/${id}` },
          st: { N: '1' },
          ex: { N: `${nowS + 30}` },
          tk: { B: expect.any(Uint8Array) },
        },
        ConditionExpression: 'attribute_not_exists(pk) OR ex <= :now',
        ExpressionAttributeValues: { ':now': { N: `${nowS}` } },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      })),
    );
    const [a, b] = table.sent.map(({ input }) => Buffer.from(input.Item.tk.B).toString('hex'));
    expect(a).not.toBe(b);
  });

  // kills: reserve.ts: one.kind === 'failed' || one.claim.status === 'claimed' => one.kind === 'answered' && one.claim.status === 'claimed'
  test('DDP-1: that fails gives up exactly the puts that it sent, but not duplicates, and sends no more', async () => {
    const table = new ScriptedTable((call) => {
      if (call.name !== 'PutItem') return undefined;
      if (keyNameOf(call) === '1') throw conditionFailed(COMMITTED);
      if (keyNameOf(call) === '3') throw throttle();
      return undefined;
    });
    const store = await table.open({ reserveConcurrency: 4 });
    await expect(store.reserve(keysOf(20), LEASE_MS)).rejects.toMatchObject({
      code: 'unavailable',
      outcome: 'not-done',
      cause: { name: 'ProvisionedThroughputExceededException' },
    });
    const sent = new Set(table.keys('PutItem'));
    expect(sent.size).toBeLessThan(20);
    expect(table.keys('DeleteItem').sort()).toEqual([...sent].filter((id) => id !== '1').sort());
    const tokens = (name: string) =>
      new Map(
        table.sent
          .filter((call) => call.name === name)
          .map((call) => [
            keyNameOf(call),
            Buffer.from((call.input.Item?.tk ?? call.input.ExpressionAttributeValues[':tk']).B).toString('hex'),
          ]),
      );
    for (const [id, token] of tokens('DeleteItem')) expect(tokens('PutItem').get(id)).toBe(token);
  });

  test('DDP-1: releases nothing before every put that it sent has its answer', async () => {
    const slow = Promise.withResolvers<void>();
    const failed = Promise.withResolvers<void>();
    const table = new ScriptedTable(async (call) => {
      if (call.name !== 'PutItem') return;
      if (keyNameOf(call) === '0') await slow.promise;
      if (keyNameOf(call) !== '1') return;
      failed.resolve();
      throw sdkError('AccessDeniedException');
    });
    const store = await table.open();
    const reserving = store.reserve(keysOf(3), LEASE_MS);
    await failed.promise;
    for (let turns = 0; turns < 100; turns++) await Promise.resolve();
    expect(table.keys('DeleteItem')).toEqual([]);
    slow.resolve();
    await expect(reserving).rejects.toMatchObject({ code: 'misconfigured' });
    expect(table.keys('DeleteItem').sort()).toEqual(['0', '1', '2']);
  });

  test('DDP-1: that cannot give up its claims says why it failed, and not that', async () => {
    const table = new ScriptedTable(({ name }) => {
      throw sdkError(name === 'PutItem' ? 'InternalServerError' : 'AccessDeniedException');
    });
    const store = await table.open();
    await expect(store.reserve(keysOf(1), LEASE_MS)).rejects.toMatchObject({ cause: { name: 'InternalServerError' } });
  });

  test('DDP-1: counts the ids that are kept by their hash, by table', async () => {
    const metrics = new RecordedMetrics();
    const store = await new ScriptedTable().open({ metrics });
    await store.reserve([keyOf('#'), keyOf('x'.repeat(1024)), keyOf('x'.repeat(1025))], LEASE_MS);
    expect(metrics.hashed).toEqual(['clicks']);
  });
});

describe('the breaker of reserves', () => {
  const unavailable = { code: 'unavailable' };

  // kills: reserve.ts: if (fault) breaker.failed(fault) => for (const one of sent) if (one.kind === 'failed') breaker.failed(one.fault)
  test('DDP-6: one wide reserve that is throttled does not open it; five reserves do, for a second, and no call is made', async () => {
    let isThrottled = true;
    const metrics = new RecordedMetrics();
    const table = new ScriptedTable(({ name }) => {
      if (isThrottled && name === 'PutItem') throw throttle();
    });
    const store = await table.open({ metrics });
    for (let reserve = 0; reserve < 5; reserve++) {
      const before = table.sent.length;
      await expect(store.reserve(keysOf(256), LEASE_MS)).rejects.toMatchObject(unavailable);
      expect(table.sent.length).toBeGreaterThan(before);
    }
    isThrottled = false;
    const before = table.sent.length;
    table.time.advance(999);
    await expect(store.reserve(keysOf(1), LEASE_MS)).rejects.toMatchObject({
      code: 'unavailable',
      retryAfterMs: 1,
      cause: { code: 'unavailable', cause: { name: 'ProvisionedThroughputExceededException' } },
    });
    expect(table.sent.length).toBe(before);
    expect(metrics.shortCircuits).toBe(1);
    table.time.advance(1);
    expect(statuses(await store.reserve(keysOf(1), LEASE_MS))).toEqual(['claimed']);
  });

  // kills: reserve.ts: breaker.answered() => void 0
  test('DDP-6: an answer of any kind in between keeps it closed; commits and releases are not kept back', async () => {
    let failing = true;
    const table = new ScriptedTable(({ name }) => {
      if (name !== 'PutItem') return;
      throw failing ? throttle() : conditionFailed(COMMITTED);
    });
    const store = await table.open();
    const fail = async (times: number): Promise<void> => {
      failing = true;
      for (let i = 0; i < times; i++)
        await expect(store.reserve(keysOf(1), LEASE_MS)).rejects.toMatchObject(unavailable);
      failing = false;
    };
    await fail(4);
    expect(statuses(await store.reserve(keysOf(1), LEASE_MS))).toEqual(['duplicate']);
    await fail(4);
    expect(statuses(await store.reserve(keysOf(1), LEASE_MS))).toEqual(['duplicate']);
    await fail(5);
    await expect(store.reserve(keysOf(1), LEASE_MS)).rejects.toMatchObject(unavailable);
    const claim = { status: 'claimed', key: keyOf('a'), token: 'aa' } as const;
    await store.commit([claim], 0);
    await store.release([claim]);
    await store.ping();
  });

  // kills: reserve.ts: isOver || parts.breaker.isOpen => isOver
  test('DDP-6: a reserve that waited for its turn while it opened is not sent any more', async () => {
    const answered = Promise.withResolvers<void>();
    const table = new ScriptedTable(async ({ name }) => {
      if (name !== 'PutItem') return;
      await answered.promise;
      throw throttle();
    });
    const metrics = new RecordedMetrics();
    const store = await table.open({ metrics, reserveConcurrency: 5, attemptsMax: 1 });
    const reserves = Array.from({ length: 12 }, (_, i) => store.reserve([keyOf(`${i}`)], LEASE_MS));
    answered.resolve();
    const ends = await Promise.allSettled(reserves);
    expect(new Set(ends.map((end) => (end.status === 'rejected' ? end.reason.code : 'claimed')))).toEqual(
      new Set(['unavailable']),
    );
    expect(metrics.shortCircuits).toBeGreaterThan(0);
    expect(table.keys('PutItem').length + metrics.shortCircuits).toBe(12);
  });
});
