/** Random calls, the same to the model and to the file: whatever the model answers, the file answers too. */
import { deepStrictEqual } from 'node:assert';
import { MemoryBroker, MemoryQueues } from '@tidemark/libs-broker-contract/testing';
import { SeededRandom } from '@tidemark/libs-kernel/testing';
import { type SpecQueue, TENANT, TOPIC } from './spec-queue.ts';
import { Side } from './spec-side.ts';

const STEPS = 120;
const NAMES = ['worker', 'audit', 'late'];
const OPTIONS = { duplicateWindowMs: 20_000 };

export async function answersAsModel(queue: SpecQueue, seed: number): Promise<void> {
  const { time } = queue;
  const shared = new MemoryQueues(time);
  const model = new Side(async () => new MemoryBroker({ clock: time, sleeper: time, ...OPTIONS }, shared));
  const file = new Side(() => queue.open(OPTIONS));
  const random = new SeededRandom(seed);
  for (let step = 0; step < STEPS; step++) {
    const act = anAct(random, step);
    const [expected, answer] = [await act(model), await act(file)];
    deepStrictEqual({ step, answer }, { step, answer: expected });
    if (random.fraction() < 0.2) await queue.pass(Math.floor(random.fraction() * 20_000));
  }
}

type Act = (side: Side) => Promise<unknown>;

/** Draws everything before it acts, so that both sides do the same. */
function anAct(random: SeededRandom, step: number): Act {
  const kind = random.fraction();
  const at = Math.floor(random.fraction() * 2);
  const name = NAMES[Math.floor(random.fraction() * (step < STEPS / 2 ? 1 : NAMES.length))]!;
  const amount = 1 + Math.floor(random.fraction() * 6);
  const draw = Math.floor(random.fraction() * 1e9);
  if (kind < 0.35) return (side) => publish(side, at, amount, new SeededRandom(draw));
  if (kind < 0.4) return (side) => fetchAndNak(side, at, name, amount);
  if (kind < 0.6) return async (side) => side.fetched(name, await (await side.consumer(at, name)).fetch(amount, 0));
  if (kind < 0.75) return async (side) => (await side.consumer(at, name)).ack(side.some(name, new SeededRandom(draw)));
  if (kind < 0.82) return async (side) => (await side.consumer(at, name)).pending();
  if (kind < 0.9) return async (side) => (await side.broker(at)).stats(TENANT);
  if (kind < 0.95) return async (side) => (await side.broker(at)).openQueue(TENANT, BigInt(amount) * 5000n);
  return (side) => side.restart();
}

async function fetchAndNak(side: Side, at: number, name: string, amount: number): Promise<unknown[]> {
  const consumer = await side.consumer(at, name);
  const deliveries = await consumer.fetch(amount, 0);
  await consumer.nak(deliveries.slice(1), amount * 1000);
  return side.fetched(name, deliveries);
}

async function publish(side: Side, at: number, amount: number, random: SeededRandom): Promise<string[]> {
  const broker = await side.broker(at);
  const telling = Array.from({ length: amount }, () => {
    const body = Buffer.alloc(Math.floor(random.fraction() * 1500));
    const key = random.fraction() < 0.7 ? { idempotencyKey: `key ${Math.floor(random.fraction() * 30)}` } : {};
    return broker.publish(TOPIC, body, key);
  });
  return (await Promise.all(telling)).map((outcome) => side.told(outcome));
}
