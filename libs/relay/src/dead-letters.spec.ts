import { MemoryBroker } from '@tidemark/libs-broker-contract/testing';
import { Fault } from '@tidemark/libs-kernel';
import { ManualTime } from '@tidemark/libs-kernel/testing';
import { MemoryOpStore, readAll } from '@tidemark/libs-op-store-contract/testing';
import { encodeEvent, idempotencyKey } from '@tidemark/libs-wire';
import { DeadLetters } from './dead-letters.ts';

const TENANT = '0';
const topic = { tenant: TENANT, table: 'events' };
const KEY = idempotencyKey(TENANT, 'events', 'e1');

let opStore: MemoryOpStore;
let broker: MemoryBroker;
let letters: DeadLetters;

beforeEach(async () => {
  const time = new ManualTime();
  opStore = new MemoryOpStore();
  broker = new MemoryBroker({ clock: time, sleeper: time });
  letters = new DeadLetters(broker, opStore);
  await broker.openQueue(TENANT, 1n << 30n);
});

const event = (id: string) =>
  encodeEvent({ table: 'events', receivedTimestamp: 't', id, entity: null, data: `{"event_id":"${id}"}` });

async function park(...bodies: { body: Uint8Array; key?: string }[]): Promise<void> {
  for (const { body, key } of bodies)
    await broker.publish(topic, body, key === undefined ? {} : { idempotencyKey: key });
  const consumer = await broker.consume(TENANT, { name: 'relay-intake', ackWaitMs: 1000 });
  const deliveries = await consumer.fetch(100, 0);
  for (const delivery of deliveries) await consumer.deadLetter(delivery, 'told to');
  await consumer.ack(deliveries);
}

const idsLeft = async () => (await letters.list(TENANT, 0n, 10)).map(({ id }) => id);
const stored = async () => (await readAll(opStore, '0.events', 10)).map(({ op }) => op.opId);

// kills: dead-letters.ts: await this.#broker.removeDeadLetter(tenant, id); => void id;
test('BRK-5: a replay stores the event under the op id that it always had, and the letter is gone', async () => {
  await park({ body: event('e1'), key: KEY });
  expect(await letters.replay(TENANT, 1n)).toEqual({
    stream: '0.events',
    opId: KEY,
    outcome: { kind: 'stored', seq: 1n },
  });
  expect([await stored(), await idsLeft()]).toEqual([[KEY], []]);
});

test('BRK-5: a replay that crashed before the letter was removed is repeated, and stores nothing twice', async () => {
  await park({ body: event('e1'), key: KEY });
  jest.spyOn(broker, 'removeDeadLetter').mockRejectedValueOnce(new Fault('unavailable', 'away'));
  await expect(letters.replay(TENANT, 1n)).rejects.toThrow('away');
  expect((await letters.replay(TENANT, 1n)).outcome).toEqual({ kind: 'existing', seq: 1n });
  expect([await stored(), await idsLeft()]).toEqual([[KEY], []]);
});

test('BRK-5: what still cannot become an op stays, with the reason', async () => {
  await park({ body: Buffer.from('no event') }, { body: event('e1'), key: KEY });
  await expect(letters.replay(TENANT, 1n)).rejects.toMatchObject({ outcome: 'not-done' });
  jest.spyOn(opStore, 'refusal').mockReturnValueOnce(new Fault('too_large', 'op is too large'));
  await expect(letters.replay(TENANT, 2n)).rejects.toThrow('op is too large');
  expect([await stored(), await idsLeft()]).toEqual([[], [1n, 2n]]);
});

test('BRK-5: letters are listed by number, found by number, and dropped once', async () => {
  await park({ body: event('e1') }, { body: event('e2') }, { body: event('e3') });
  await letters.drop(TENANT, 2n);
  expect([await idsLeft(), (await letters.list(TENANT, 1n, 1)).map(({ id }) => id)]).toEqual([[1n, 3n], [3n]]);
  expect((await letters.find(TENANT, 3n)).reason).toBe('told to');
  for (const call of [() => letters.find(TENANT, 2n), () => letters.drop(TENANT, 2n), () => letters.replay(TENANT, 2n)])
    await expect(call()).rejects.toMatchObject({ code: 'not_found', outcome: 'not-done' });
});
