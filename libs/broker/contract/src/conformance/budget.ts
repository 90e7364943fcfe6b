import { deepEqual, equal, ok } from 'node:assert/strict';
import type { Consumer, Delivery } from '../broker.ts';
import { type BrokerCase, TENANT, expectKind, expectTexts, fill, join, start, store, take, tell } from './harness.ts';

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
  {
    title: 'OPS-4: stats tell how long the oldest message waits that some durable consumer has not acked',
    kills: 'ageOfTheNewest',
    alsoFails: ['firstAckRemoves'],
    async run(harness) {
      const { broker, worker } = await start(harness);
      const audit = await join(broker, 'audit');
      const age = async () => (await broker.stats(TENANT)).oldestAgeMs;
      equal(await age(), 0);
      await store(broker, 'old');
      await harness.pass(1000);
      await store(broker, 'young');
      const [old, young] = await takeInOrder(worker);
      ok((await age()) >= 800, 'the oldest counts');
      await worker.ack([old!]);
      ok((await age()) >= 800, 'one durable consumer has not acked it');
      const [oldForAudit, youngForAudit] = await takeInOrder(audit);
      await audit.ack([oldForAudit!]);
      ok((await age()) < 800, 'nobody waits for it any more');
      await worker.ack([young!]);
      await audit.ack([youngForAudit!]);
      equal(await age(), 0);
    },
  },
  {
    title: 'ING-6: queues that nobody touched are as they must be',
    kills: 'findsFaultWithAll',
    async run(harness) {
      const { broker } = await start(harness);
      await broker.openQueue('other', SMALL_BYTES);
      await (await harness.open()).openQueue('other', SMALL_BYTES * 2n);
      await store(broker, 'a');
      deepEqual(await broker.verifyQueues(), []);
    },
  },
];

/** Their order is the matter of another case. */
async function takeInOrder(consumer: Consumer): Promise<Delivery[]> {
  return [...(await take(consumer))].sort((one, other) => Number(one.seq - other.seq));
}
