import { deepEqual } from 'node:assert/strict';
import { type BrokerCase, QUEUE_BYTES, expectKind, expectTexts, fill, start, store, take, tell } from './harness.ts';

export const repeatCases: readonly BrokerCase[] = [
  {
    title: 'BRK-2: a repeat of an idempotency key is a duplicate and names the seq of the first copy',
    kills: 'duplicateNamesAnotherSeq',
    async run(harness) {
      const { broker } = await start(harness);
      const seq = await store(broker, 'a', 'key');
      await store(broker, 'b', 'other key');
      deepEqual(await tell(broker, 'a', 'key'), { kind: 'duplicate', seq });
    },
  },
  {
    title: 'BRK-2: a repeat is not stored, also with another body; other keys are',
    kills: 'storesRepeats',
    async run(harness) {
      const { broker, worker } = await start(harness);
      await store(broker, 'a', 'key');
      await expectKind('duplicate', tell(broker, 'other body', 'key'));
      await store(broker, 'b', 'key2');
      expectTexts(await take(worker), 'a', 'b');
    },
  },
  {
    title: 'BRK-2: of two copies in flight together one is stored',
    kills: 'storesRepeatsInFlight',
    async run(harness) {
      const { broker, worker } = await start(harness);
      const outcomes = await Promise.all([tell(broker, 'a', 'key'), tell(broker, 'a', 'key')]);
      deepEqual(outcomes.map(({ kind }) => kind).sort(), ['duplicate', 'stored']);
      expectTexts(await take(worker), 'a');
    },
  },
  {
    title: 'BRK-2: a delivery carries its idempotency key, or null',
    kills: 'deliversNoKey',
    async run(harness) {
      const { broker, worker } = await start(harness);
      await store(broker, 'a', 'schlüssel 🙂');
      await store(broker, 'b');
      const keys = (await take(worker)).map(({ idempotencyKey }) => idempotencyKey);
      deepEqual(new Set(keys), new Set(['schlüssel 🙂', null]));
    },
  },
  {
    title: 'BRK-2: a repeat at the end of the window is still dropped',
    kills: 'windowIsTooShort',
    async run(harness) {
      const { broker } = await start(harness);
      await store(broker, 'a', 'key');
      await harness.pass(broker.duplicateWindowMs * 0.8);
      await expectKind('duplicate', tell(broker, 'a', 'key'));
    },
  },
  {
    title: 'BRK-2: after the window the key is stored again, and guards the second copy',
    kills: 'keysAreForEver',
    async run(harness) {
      const { broker, worker } = await start(harness);
      await store(broker, 'a', 'key');
      await harness.pass(broker.duplicateWindowMs * 1.2);
      await store(broker, 'a', 'key');
      await expectKind('duplicate', tell(broker, 'a', 'key'));
      expectTexts(await take(worker), 'a', 'a');
    },
  },
  {
    title: 'BRK-2: the window counts from the stored publish, a repeat does not prolong it',
    kills: 'repeatsProlongTheWindow',
    alsoFails: ['keysAreForEver'],
    async run(harness) {
      const { broker } = await start(harness);
      await store(broker, 'a', 'key');
      await harness.pass(broker.duplicateWindowMs * 0.4);
      await expectKind('duplicate', tell(broker, 'a', 'key'));
      await harness.pass(broker.duplicateWindowMs * 0.8);
      await store(broker, 'a', 'key');
    },
  },
  {
    title: 'BRK-2: a repeat is dropped also after the first copy was acked and removed',
    kills: 'ackForgetsKey',
    async run(harness) {
      const { broker, worker } = await start(harness);
      await store(broker, 'a', 'key');
      await worker.ack(await take(worker));
      await expectKind('duplicate', tell(broker, 'a', 'key'));
    },
  },
  {
    title: 'BRK-2: a repeat is dropped also when every process started anew',
    kills: 'restartForgetsKeys',
    alsoFails: ['processesKeepTheirKeys'],
    async run(harness) {
      const { broker } = await start(harness);
      await store(broker, 'a', 'key');
      await broker.close();
      const { broker: next } = await start(harness);
      await expectKind('duplicate', tell(next, 'a', 'key'));
    },
  },
  {
    title: 'BRK-2: a repeat by another process is dropped',
    kills: 'processesKeepTheirKeys',
    async run(harness) {
      const { broker } = await start(harness);
      const { broker: other } = await start(harness);
      await store(other, 'warm', 'first of the other');
      await store(broker, 'a', 'key');
      await expectKind('duplicate', tell(other, 'a', 'key'));
    },
  },
  {
    title: 'ING-9: a key of one tenant is nothing to another',
    kills: 'keysAcrossTenants',
    async run(harness) {
      const { broker } = await start(harness);
      await broker.openQueue('other', QUEUE_BYTES);
      await store(broker, 'a', 'key');
      await store(broker, 'a', 'key', { tenant: 'other', table: 'clicks' });
    },
  },
  {
    title: 'BRK-2: a refused publish does not use its key up',
    kills: 'refusedKeyIsUsed',
    alsoFails: ['ackedStillCount', 'fullDropsOldest'],
    async run(harness) {
      const { broker, worker } = await start(harness, 5000n);
      await fill(broker);
      await expectKind('full', tell(broker, 'a'.padEnd(1000), 'key'));
      await worker.ack(await take(worker));
      await store(broker, 'a'.padEnd(1000), 'key');
    },
  },
  {
    title: 'BRK-2: a repeat is a duplicate also when the queue is full by then',
    kills: 'fullBeforeDuplicate',
    async run(harness) {
      const { broker } = await start(harness, 5000n);
      await store(broker, 'a'.padEnd(1000), 'key');
      await fill(broker);
      await expectKind('duplicate', tell(broker, 'a'.padEnd(1000), 'key'));
    },
  },
];
