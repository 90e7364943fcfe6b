import { deepEqual, equal, rejects } from 'node:assert/strict';
import {
  type BrokerCase,
  QUEUE_BYTES,
  TOPIC,
  expectKind,
  expectTexts,
  join,
  start,
  store,
  take,
  tell,
  textOf,
} from './harness.ts';

const ODD_TENANTS = ['a.b', 'x *>', '%2F', 'Ünï', '🙂', 'nul\0l', "q'uote", '../up', 'INGEST_0'];
const ODD_TABLES = ['', 'a\0b', 'a\0c', '.', '*.>', '%', '%2E', '🙂', 'é', 'e\u0301'];

export const publishCases: readonly BrokerCase[] = [
  {
    title: 'BRK-1: odd names of tenants and tables come back as they went in',
    kills: 'cutsTableAtNul',
    async run(harness) {
      const broker = await harness.open();
      for (const tenant of ODD_TENANTS) {
        await broker.openQueue(tenant, QUEUE_BYTES);
        const worker = await join(broker, 'worker', tenant);
        for (const table of ODD_TABLES) await store(broker, table, undefined, { tenant, table });
        const deliveries = await take(worker);
        deepEqual(
          new Set(deliveries.map(({ topic }) => `${topic.tenant}/${topic.table}`)),
          new Set(ODD_TABLES.map((table) => `${tenant}/${table}`)),
        );
        for (const delivery of deliveries) equal(textOf(delivery), delivery.topic.table);
      }
    },
  },
  {
    title: 'BRK-1: a body comes back byte for byte, an empty one too',
    kills: 'bodyAsText',
    async run(harness) {
      const { broker, worker } = await start(harness);
      const bodies = [Uint8Array.from({ length: 256 }, (_, byte) => byte), new Uint8Array(0)];
      for (const body of bodies) equal((await broker.publish(TOPIC, body)).kind, 'stored');
      const came = (await take(worker)).map(({ body }) => [...body]);
      deepEqual(
        came.sort((a, b) => b.length - a.length),
        bodies.map((body) => [...body]),
      );
    },
  },
  {
    title: 'BRK-1: a topic without a tenant is refused, never given to a default tenant',
    kills: 'emptyTenantIsDefault',
    async run(harness) {
      const { broker } = await start(harness);
      await rejects(tell(broker, 'lost', undefined, { tenant: '', table: 'clicks' }), { code: 'invalid' });
      await rejects(broker.openQueue('', QUEUE_BYTES), { code: 'invalid' });
      await rejects(join(broker, 'worker', ''), { code: 'invalid' });
    },
  },
  {
    title: 'BRK-1: a name or key without a UTF-8 form is refused, so that no two names become one',
    kills: 'replacesLoneSurrogates',
    async run(harness) {
      const { broker } = await start(harness);
      await rejects(tell(broker, 'a', undefined, { tenant: '\ud800', table: 'clicks' }), { code: 'invalid' });
      await rejects(tell(broker, 'b', undefined, { ...TOPIC, table: '\ud800' }), { code: 'invalid' });
      await rejects(tell(broker, 'c', '\ud800'), { code: 'invalid' });
    },
  },
  {
    title: 'BRK-2: the empty idempotency key is refused: messages that share it would be lost as repeats',
    kills: 'takesEmptyKey',
    async run(harness) {
      const { broker } = await start(harness);
      await rejects(tell(broker, 'a', ''), { code: 'invalid' });
    },
  },
  {
    title: 'ING-11b: a body above the limit is too_large and not stored, one at the limit is stored',
    kills: 'storesTooLarge',
    async run(harness) {
      const { broker, worker } = await start(harness, 1n << 30n);
      await expectKind('too_large', broker.publish(TOPIC, new Uint8Array(broker.bodyBytesMax + 1)));
      await expectKind('stored', broker.publish(TOPIC, new Uint8Array(broker.bodyBytesMax)));
      deepEqual(
        (await take(worker)).map(({ body }) => body.byteLength),
        [broker.bodyBytesMax],
      );
    },
  },
  {
    title: 'BRK-3: a tenant whose queue was never opened is full, and stays without a queue',
    kills: 'opensQueueOnPublish',
    async run(harness) {
      const { broker } = await start(harness);
      await expectKind('full', tell(broker, 'a', undefined, { tenant: 'unknown', table: 'clicks' }));
      deepEqual([...(await broker.queues())], [TOPIC.tenant]);
    },
  },
  {
    title: 'BRK-5: to consume from or ask about a tenant without a queue is not_found',
    kills: 'unknownQueueIsEmpty',
    async run(harness) {
      const broker = await harness.open();
      await rejects(join(broker, 'worker', 'unknown'), { code: 'not_found' });
      await rejects(broker.stats('unknown'), { code: 'not_found' });
      await rejects(broker.deadLetters('unknown', 0n, 1), { code: 'not_found' });
    },
  },
  {
    title: 'BRK-5: messages are delivered in the order in which they were published',
    kills: 'deliversNewestFirst',
    async run(harness) {
      const { broker, worker } = await start(harness);
      for (const text of ['1', '2', '3', '4']) await store(broker, text);
      const deliveries = [...(await take(worker, 3)), ...(await take(worker, 3))];
      deepEqual(deliveries.map(textOf), ['1', '2', '3', '4']);
    },
  },
  {
    title: 'ING-3: publishes in flight together keep the order of their calls',
    kills: 'swapsPublishesInFlight',
    async run(harness) {
      const { broker, worker } = await start(harness);
      const texts = Array.from({ length: 300 }, (_, n) => `${n}`);
      const seqs = await Promise.all(texts.map((text) => store(broker, text)));
      deepEqual(
        seqs,
        seqs.toSorted((a, b) => Number(a - b)),
      );
      const came = (await take(worker)).toSorted((a, b) => Number(a.seq - b.seq));
      deepEqual(came.map(textOf), texts);
    },
  },
  {
    title: 'BRK-5: a seq is never given twice, also when everything was acked and every process started anew',
    kills: 'seqRestartsWhenEmpty',
    async run(harness) {
      const { broker, worker } = await start(harness);
      const seqs = [await store(broker, 'a'), await store(broker, 'b')];
      await worker.ack(await take(worker));
      await broker.close();
      const { broker: next } = await start(harness);
      seqs.push(await store(next, 'c'), await store(next, 'd'));
      deepEqual(
        seqs,
        [...new Set(seqs)].sort((a, b) => Number(a - b)),
      );
    },
  },
  {
    title: 'BRK-2: publishes without a key are all stored, equal bodies too',
    kills: 'dropsEqualBodies',
    async run(harness) {
      const { broker, worker } = await start(harness);
      for (let n = 0; n < 3; n++) await store(broker, 'same');
      expectTexts(await take(worker), 'same', 'same', 'same');
    },
  },
  {
    title: 'ING-9: no tenant sees what another one publishes',
    kills: 'sharesQueueByPrefix',
    async run(harness) {
      const { broker, worker } = await start(harness, QUEUE_BYTES, 'a');
      await broker.openQueue('ab', QUEUE_BYTES);
      const other = await join(broker, 'worker', 'ab');
      await store(broker, 'for a', undefined, { tenant: 'a', table: 'bc' });
      await store(broker, 'for ab', undefined, { tenant: 'ab', table: 'c' });
      expectTexts(await take(worker), 'for a');
      expectTexts(await take(other), 'for ab');
    },
  },
  {
    title: 'BRK-1: queues are listed in UTF-8 order',
    kills: 'listsQueuesInUtf16Order',
    async run(harness) {
      const broker = await harness.open();
      for (const tenant of ['😀', 'b', 'ｚ', 'a']) await broker.openQueue(tenant, QUEUE_BYTES);
      deepEqual([...(await broker.queues())], ['a', 'b', 'ｚ', '😀']);
    },
  },
  {
    title: 'BRK-4: a closed broker stores nothing more and says so; closing twice is fine',
    kills: 'closedStillStores',
    async run(harness) {
      const { broker } = await start(harness);
      await broker.close();
      await broker.close();
      await expectKind('unavailable', tell(broker, 'late'));
      await rejects(broker.ping(), { code: 'unavailable' });
    },
  },
];
