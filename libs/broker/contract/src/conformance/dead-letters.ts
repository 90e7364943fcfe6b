import { deepEqual, equal, ok } from 'node:assert/strict';
import type { Broker } from '../broker.ts';
import { type BrokerCase, TENANT, start, store, take, takeOne, textOf } from './harness.ts';

export const deadLetterCases: readonly BrokerCase[] = [
  {
    title: 'BRK-5: a dead letter keeps topic, body, key and place of the message, and its reason',
    kills: 'deadLetterLosesKey',
    alsoFails: ['deliversNoKey'],
    async run(harness) {
      const { broker, worker } = await start(harness);
      const topic = { tenant: TENANT, table: 'odd.table' };
      const seq = await store(broker, 'poison', 'key', topic);
      const delivery = await takeOne(worker);
      await worker.deadLetter(delivery, 'not an event: ünreadable');
      const [letter] = await broker.deadLetters(TENANT, 0n, 10);
      ok(letter);
      deepEqual(
        [letter.topic, textOf(letter), letter.idempotencyKey, letter.queue, letter.seq, letter.reason],
        [topic, 'poison', 'key', delivery.queue, seq, 'not an event: ünreadable'],
      );
      ok(letter.parkedAtMs > 0);
    },
  },
  {
    title: 'BRK-5: to park a message does not ack it',
    kills: 'deadLetterAcks',
    async run(harness) {
      const { broker, worker } = await start(harness);
      await store(broker, 'poison');
      const delivery = await takeOne(worker);
      await worker.deadLetter(delivery, 'unreadable');
      await worker.nak([delivery], 0);
      equal(textOf(await takeOne(worker)), 'poison');
    },
  },
  {
    title: 'BRK-5: a dead letter stays after its message was acked and every process started anew',
    kills: 'ackRemovesDeadLetter',
    async run(harness) {
      const { broker, worker } = await start(harness);
      await store(broker, 'poison');
      const delivery = await takeOne(worker);
      await worker.deadLetter(delivery, 'unreadable');
      await worker.ack([delivery]);
      await broker.close();
      const { broker: next } = await start(harness);
      deepEqual(await parked(next), ['poison']);
    },
  },
  {
    title: 'BRK-5: dead letters are read oldest first, in pages',
    kills: 'pagesStartOver',
    async run(harness) {
      const { broker, worker } = await start(harness);
      for (const text of ['1', '2', '3']) await store(broker, text);
      for (const delivery of (await take(worker)).toSorted((a, b) => Number(b.seq - a.seq)))
        await worker.deadLetter(delivery, 'unreadable');
      const page = [...(await broker.deadLetters(TENANT, 0n, 2))];
      const rest = [...(await broker.deadLetters(TENANT, page.at(-1)!.id, 2))];
      deepEqual([page.map(textOf), rest.map(textOf)], [['3', '2'], ['1']]);
    },
  },
  {
    title: 'I19: stats count the dead letters',
    kills: 'deadLettersAreNotCounted',
    async run(harness) {
      const { broker, worker } = await start(harness);
      await store(broker, 'poison');
      await worker.deadLetter(await takeOne(worker), 'unreadable');
      equal((await broker.stats(TENANT)).deadLetters, 1n);
    },
  },
  {
    title: 'BRK-5: an operator removes a dead letter, and no other',
    kills: 'removesNoDeadLetter',
    async run(harness) {
      const { broker, worker } = await start(harness);
      for (const text of ['1', '2']) await store(broker, text);
      for (const delivery of await take(worker)) await worker.deadLetter(delivery, 'unreadable');
      const [first, second] = await broker.deadLetters(TENANT, 0n, 10);
      ok(first && second);
      deepEqual(
        [await broker.removeDeadLetter(TENANT, first.id), await broker.removeDeadLetter(TENANT, first.id)],
        [true, false],
      );
      deepEqual(await parked(broker), [textOf(second)]);
    },
  },
];

async function parked(broker: Broker): Promise<string[]> {
  return [...(await broker.deadLetters(TENANT, 0n, 10))].map(textOf);
}
