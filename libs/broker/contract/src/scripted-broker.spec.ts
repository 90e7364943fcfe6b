import { ManualTime } from '@tidemark/libs-kernel/testing';
import { MemoryBroker, ScriptedBroker } from './testing.ts';

const TOPIC = { tenant: 'acme', table: 'clicks' };

async function scripted(): Promise<ScriptedBroker> {
  const time = new ManualTime();
  const broker = new ScriptedBroker(new MemoryBroker({ clock: time, sleeper: time }));
  await broker.openQueue('acme', 10_000n);
  return broker;
}

async function kinds(broker: ScriptedBroker, keys: readonly string[]): Promise<string[]> {
  const telling = keys.map((key) => broker.publish(TOPIC, Buffer.from(key), { idempotencyKey: key }));
  return (await Promise.all(telling)).map(({ kind }) => kind);
}

test('ING-2: a publish that is told to fail before storing is not in the queue', async () => {
  const broker = await scripted();
  broker.endPublish(2, { kind: 'full' });
  expect(await kinds(broker, ['a', 'b', 'c'])).toEqual(['stored', 'full', 'stored']);
  expect(broker.published.map(({ idempotencyKey }) => idempotencyKey)).toEqual(['a', 'c']);
  expect(await kinds(broker, ['b'])).toEqual(['stored']);
});

test('I20: a publish that is told to fail after storing is in the queue, and its repeat a duplicate', async () => {
  const broker = await scripted();
  broker.endPublish(1, { kind: 'unknown', stored: true });
  broker.endPublish(2, { kind: 'unavailable', stored: true });
  expect(await kinds(broker, ['a', 'b'])).toEqual(['unknown', 'unavailable']);
  expect(await kinds(broker, ['a', 'b'])).toEqual(['duplicate', 'duplicate']);
  expect(broker.published.map(({ body }) => Buffer.from(body).toString())).toEqual(['a', 'b']);
  expect(broker.publishes).toBe(4);
});

test('BRK-3: a certain refusal cannot be scripted to have stored', async () => {
  const broker = await scripted();
  expect(() => broker.endPublish(1, { kind: 'full', stored: true })).toThrow('full stores nothing');
});

test('ING-2: publishes are counted from the one that comes next', async () => {
  const broker = await scripted();
  await kinds(broker, ['a']);
  broker.endPublish(1, { kind: 'unavailable' });
  expect(await kinds(broker, ['b', 'c'])).toEqual(['unavailable', 'stored']);
});
