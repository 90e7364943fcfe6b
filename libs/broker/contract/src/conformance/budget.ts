import { deepEqual, ok } from 'node:assert/strict';
import { type BrokerCase, TENANT, expectKind, expectTexts, fill, start, store, take, tell } from './harness.ts';

const SMALL_BYTES = 20_000n;

export const budgetCases: readonly BrokerCase[] = [
  {
    title: 'BRK-3: a full queue refuses the new and keeps all of the old',
    kills: 'fullDropsOldest',
    async run(harness) {
      const { broker, worker } = await start(harness, SMALL_BYTES);
      const stored = await fill(broker);
      ok(stored.length > 5 && stored.length < 20, 'bodies count against the budget');
      await expectKind('full', tell(broker, ''.padEnd(1000)));
      expectTexts(await take(worker), ...stored);
    },
  },
  {
    title: 'BRK-3: a full queue takes messages again after acks made room',
    kills: 'ackedStillCount',
    async run(harness) {
      const { broker, worker } = await start(harness, SMALL_BYTES);
      await fill(broker);
      await worker.ack(await take(worker, 2));
      await store(broker, 'again'.padEnd(1000, '.'));
    },
  },
  {
    title: 'BRK-3: a smaller budget drops nothing that is stored',
    kills: 'shrinkDrops',
    alsoFails: ['fullDropsOldest'],
    async run(harness) {
      const { broker, worker } = await start(harness, SMALL_BYTES);
      const stored = await fill(broker);
      await broker.openQueue(TENANT, SMALL_BYTES / 4n);
      await expectKind('full', tell(broker, 'more'.padEnd(1000, '.')));
      expectTexts(await take(worker), ...stored);
    },
  },
  {
    title: 'BRK-3: a larger budget lets a full queue take messages again',
    kills: 'neverGrows',
    async run(harness) {
      const { broker } = await start(harness, SMALL_BYTES);
      await fill(broker);
      await broker.openQueue(TENANT, SMALL_BYTES * 2n);
      await store(broker, 'more'.padEnd(1000, '.'));
    },
  },
  {
    title: 'BRK-4: opening a queue that is there keeps what it holds',
    kills: 'openingEmpties',
    async run(harness) {
      const { broker, worker } = await start(harness, SMALL_BYTES);
      await store(broker, 'kept');
      await (await harness.open()).openQueue(TENANT, SMALL_BYTES);
      expectTexts(await take(worker), 'kept');
      deepEqual([...(await broker.queues())], [TENANT]);
    },
  },
  {
    title: 'BRK-3: stats count what is stored, and no more what every durable consumer has acked',
    kills: 'statsCountAcked',
    async run(harness) {
      const { broker, worker } = await start(harness, SMALL_BYTES);
      for (const text of ['1', '2']) await store(broker, text.padEnd(1000, '.'));
      const both = await broker.stats(TENANT);
      const [first, second] = await take(worker);
      await worker.ack([second!]);
      const one = await broker.stats(TENANT);
      await worker.ack([first!]);
      const none = await broker.stats(TENANT);
      deepEqual([both.messages, one.messages, none.messages], [2n, 1n, 0n]);
      ok(both.bytes >= 2000n && one.bytes >= 1000n && both.bytes > one.bytes && none.bytes === 0n, 'bytes follow');
      deepEqual([none.bytesMax, none.deadLetters], [SMALL_BYTES, 0n]);
    },
  },
];
