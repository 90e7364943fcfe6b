/**
 * A process for the specs to watch or kill: publishes messages `first`, `first + 1` ... in windows, each under a key of its own, says
 * `KIND N` for each one and `done` after `count` of them. Arguments: folder, first, count.
 */
import { writeSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { ManualTime, SeededRandom } from '@tidemark/libs-kernel/testing';
import { connectEmbeddedBroker } from './connect.ts';
import { TOPIC, WINDOW } from './spec-queue.ts';

const [, , folder = '', first = '0', count = ''] = process.argv;
const sleeper = { sleep: (ms: number) => wait(ms) };
const random = new SeededRandom(process.pid);
const broker = await connectEmbeddedBroker({ folder, clock: new ManualTime(), sleeper, random });

const end = count === '' ? Infinity : Number(first) + Number(count);
for (let n = Number(first); n < end; n += WINDOW) {
  const window = Array.from({ length: Math.min(WINDOW, end - n) }, (_, at) => n + at);
  const publishing = window.map((m) => broker.publish(TOPIC, Buffer.from(`${m}`), { idempotencyKey: `key ${m}` }));
  const outcomes = await Promise.all(publishing);
  writeSync(1, outcomes.map(({ kind }, at) => `${kind} ${n + at}\n`).join(''));
}
await broker.close();
writeSync(1, 'done\n');
