import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import {
  ACK_WAIT_MS,
  type BrokerCase,
  expectTexts,
  join,
  start,
  store,
  take,
  takeOne,
  textOf,
  within,
} from './harness.ts';

export const deliverCases: readonly BrokerCase[] = [
  {
    title: 'BRK-5: a nak hands a message back, and it is delivered again after the delay',
    kills: 'nakForgets',
    async run(harness) {
      const { broker, worker } = await start(harness);
      await store(broker, 'a');
      await worker.nak([await takeOne(worker)], 400);
      await harness.pass(480);
      equal(textOf(await takeOne(worker)), 'a');
    },
  },
  {
    title: 'BRK-5: a message handed back is not delivered before its delay has passed',
    kills: 'nakIgnoresDelay',
    async run(harness) {
      const { broker, worker } = await start(harness);
      await store(broker, 'a');
      await worker.nak([await takeOne(worker)], 400);
      await harness.pass(320);
      deepEqual(await take(worker), []);
    },
  },
  {
    title: 'BRK-5: a delivery that nobody settles is delivered again after the ack wait',
    kills: 'neverRedelivers',
    async run(harness) {
      const { broker, worker } = await start(harness);
      const seq = await store(broker, 'a');
      await take(worker);
      await harness.pass(ACK_WAIT_MS * 1.2);
      const again = await takeOne(worker);
      deepEqual([textOf(again), again.seq], ['a', seq]);
    },
  },
  {
    title: 'BRK-5: a delivery is not given out again while its ack wait runs',
    kills: 'redeliversEarly',
    async run(harness) {
      const { broker, worker } = await start(harness);
      await store(broker, 'a');
      await take(worker);
      await harness.pass(ACK_WAIT_MS * 0.8);
      deepEqual(await take(worker), []);
    },
  },
  {
    title: 'BRK-5: attempt counts the deliveries of a message from 1',
    kills: 'attemptIsAlwaysOne',
    async run(harness) {
      const { broker, worker } = await start(harness);
      await store(broker, 'a');
      const attempts: number[] = [];
      for (let n = 0; n < 3; n++) {
        const delivery = await takeOne(worker);
        attempts.push(delivery.attempt);
        await worker.nak([delivery], 0);
      }
      deepEqual(attempts, [1, 2, 3]);
    },
  },
  {
    title: 'BRK-5: an acked message is never delivered again',
    kills: 'resurrectsAcked',
    async run(harness) {
      const { broker, worker } = await start(harness);
      await store(broker, 'a');
      const delivery = await takeOne(worker);
      await worker.ack([delivery]);
      await worker.ack([delivery]);
      await worker.nak([delivery], 0);
      await harness.pass(ACK_WAIT_MS * 1.2);
      deepEqual(await take(worker), []);
    },
  },
  {
    title: 'BRK-5: one ack settles each of its deliveries, and no other, in whatever order',
    kills: 'acksUpTo',
    async run(harness) {
      const { broker, worker } = await start(harness);
      for (const text of ['1', '2', '3', '4', '5']) await store(broker, text);
      const deliveries = await take(worker);
      await worker.ack(deliveries.filter((delivery) => ['5', '2', '4'].includes(textOf(delivery))).reverse());
      await worker.nak(deliveries, 0);
      expectTexts(await take(worker), '1', '3');
    },
  },
  {
    title: 'BRK-5: what was acked stays acked when every process started anew, and what was not is delivered',
    kills: 'forgetsAcksOnRestart',
    async run(harness) {
      const { broker, worker } = await start(harness);
      await store(broker, 'acked');
      await worker.ack([await takeOne(worker)]);
      await store(broker, 'waiting');
      await broker.close();
      expectTexts(await take(await join(await harness.open())), 'waiting');
    },
  },
  {
    title: 'BRK-5: two processes under one durable name share the work, and no message is lost',
    kills: 'processesDoNotShare',
    async run(harness) {
      const { broker, worker } = await start(harness);
      const other = await join(await harness.open());
      for (const text of ['1', '2']) await store(broker, text);
      const ones = await take(worker);
      for (const text of ['3', '4']) await store(broker, text);
      const others = await take(other);
      expectTexts(ones, '1', '2');
      expectTexts(others, '3', '4');
      await other.ack(others);
      await worker.ack(ones);
      deepEqual([await worker.pending(), await other.pending()], [0n, 0n]);
    },
  },
  {
    title: 'BRK-5: what a process had in flight when it went is delivered to another one after the ack wait',
    kills: 'closeLosesDeliveries',
    alsoFails: ['neverRedelivers'],
    async run(harness) {
      const { broker, worker } = await start(harness);
      await store(broker, 'a');
      await take(worker);
      await broker.close();
      const next = await join(await harness.open());
      await harness.pass(ACK_WAIT_MS * 1.2);
      equal(textOf(await takeOne(next)), 'a');
    },
  },
  {
    title: 'BRK-5: an ack that comes after the redelivery settles the message all the same',
    kills: 'lateAckIsIgnored',
    async run(harness) {
      const { broker, worker } = await start(harness);
      await store(broker, 'a');
      const first = await takeOne(worker);
      await worker.nak([first], 0);
      const second = await takeOne(await join(broker));
      await worker.ack([first]);
      await worker.nak([second], 0);
      deepEqual([await worker.pending(), await take(worker)], [0n, []]);
    },
  },
  {
    title: 'BRK-5: every durable name gets every message; the ack of one takes nothing from another',
    kills: 'firstAckRemoves',
    async run(harness) {
      const { broker, worker } = await start(harness);
      const audit = await join(broker, 'audit');
      for (const text of ['1', '2', '3']) await store(broker, text);
      const [, second, third] = (await take(worker)).toSorted((a, b) => Number(a.seq - b.seq));
      ok(second && third);
      await worker.ack([third, second]);
      expectTexts(await take(audit), '1', '2', '3');
    },
  },
  {
    title: 'BRK-5: a new durable name begins at the oldest message that is still stored',
    kills: 'newNameBeginsAtTheEnd',
    async run(harness) {
      const { broker, worker } = await start(harness);
      for (const text of ['1', '2', '3']) await store(broker, text);
      const [, second] = (await take(worker)).toSorted((a, b) => Number(a.seq - b.seq));
      await worker.ack([second!]);
      const late = await join(broker, 'late');
      equal(await late.pending(), 2n);
      const deliveries = await take(late);
      expectTexts(deliveries, '1', '3');
      deepEqual(new Set(deliveries.map(({ attempt }) => attempt)), new Set([1]));
    },
  },
  {
    title: 'BRK-3: a queue that has no consumer yet keeps everything',
    kills: 'dropsWithoutConsumer',
    alsoFails: ['newNameBeginsAtTheEnd'],
    async run(harness) {
      const broker = await harness.open();
      await broker.openQueue('acme', 1_000_000n);
      await store(broker, 'early');
      expectTexts(await take(await join(broker)), 'early');
    },
  },
  {
    title: 'BRK-5: pending counts what was not acked, in flight or not',
    kills: 'pendingSkipsInFlight',
    async run(harness) {
      const { broker, worker } = await start(harness);
      for (const text of ['1', '2']) await store(broker, text);
      const counts = [await worker.pending()];
      const [first, second] = await take(worker);
      await store(broker, '3');
      counts.push(await worker.pending());
      await worker.ack([second!]);
      counts.push(await worker.pending());
      await worker.ack([first!, ...(await take(worker))]);
      counts.push(await worker.pending());
      deepEqual(counts, [2n, 3n, 2n, 0n]);
    },
  },
  {
    title: 'BRK-5: a fetch gives no more than it was asked for',
    kills: 'ignoresMax',
    async run(harness) {
      const { broker, worker } = await start(harness);
      for (const text of ['1', '2', '3']) await store(broker, text);
      equal((await take(worker, 2)).length, 2);
      equal((await take(worker, 2)).length, 1);
    },
  },
];

export const waitCases: readonly BrokerCase[] = [
  {
    title: 'BRK-5: a fetch that waits is woken by a publish of another process',
    kills: 'fetchDoesNotWait',
    async run(harness) {
      const { worker } = await start(harness);
      const other = await harness.open();
      const fetching = worker.fetch(10, 60_000);
      await harness.pass(300);
      await store(other, 'a');
      expectTexts(await within(harness, 2000, fetching), 'a');
    },
  },
  {
    title: 'BRK-5: a fetch that waits gets a message whose ack wait ends meanwhile',
    kills: 'waitsForPublishesOnly',
    alsoFails: ['neverRedelivers', 'fetchDoesNotWait'],
    async run(harness) {
      const { broker, worker } = await start(harness);
      await store(broker, 'a');
      await take(worker);
      expectTexts(await within(harness, ACK_WAIT_MS * 1.5, worker.fetch(10, 60_000)), 'a');
    },
  },
  {
    title: 'BRK-5: a fetch that waits gets what another process hands back',
    kills: 'nakWakesNobody',
    alsoFails: ['fetchDoesNotWait'],
    async run(harness) {
      const { broker, worker } = await start(harness);
      const other = await join(await harness.open());
      await store(broker, 'a');
      const delivery = await takeOne(worker);
      const fetching = other.fetch(10, 60_000);
      await harness.pass(200);
      await worker.nak([delivery], 0);
      expectTexts(await within(harness, ACK_WAIT_MS * 0.5, fetching), 'a');
    },
  },
  {
    title: 'BRK-5: a fetch without anything to give ends empty after its wait',
    kills: 'waitsForEver',
    async run(harness) {
      const { worker } = await start(harness);
      deepEqual(await within(harness, 1000, worker.fetch(10, 500)), []);
    },
  },
  {
    title: 'BRK-5: an aborted fetch ends early and empty, and takes nothing with it',
    kills: 'ignoresAbort',
    async run(harness) {
      const { broker, worker } = await start(harness);
      const stop = new AbortController();
      const fetching = worker.fetch(10, 60_000, stop.signal);
      await harness.pass(200);
      stop.abort();
      deepEqual(await within(harness, 1000, fetching), []);
      await store(broker, 'a');
      deepEqual(await worker.fetch(10, 60_000, stop.signal), []);
      equal((await takeOne(worker)).attempt, 1);
    },
  },
  {
    title: 'BRK-5: closing a consumer ends its waiting fetch, and lets it fetch no more',
    kills: 'closeLeavesFetchWaiting',
    async run(harness) {
      const { worker } = await start(harness);
      const fetching = worker.fetch(10, 60_000);
      await harness.pass(200);
      await worker.close();
      deepEqual(await within(harness, 1000, fetching), []);
      await rejects(worker.fetch(1, 0), { code: 'unavailable' });
    },
  },
];
