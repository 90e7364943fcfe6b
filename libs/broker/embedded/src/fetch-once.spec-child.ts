/** A process for the specs to kill: fetches what there is, says `fetched N` for each body, and neither acks nor ends. Argument: folder. */
import { writeSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { ManualTime, SeededRandom } from '@tidemark/libs-kernel/testing';
import { connectEmbeddedBroker } from './connect.ts';
import { ACK_WAIT_MS, TENANT } from './spec-queue.ts';

const [, , folder = ''] = process.argv;
const sleeper = { sleep: (ms: number) => wait(ms) };
const broker = await connectEmbeddedBroker({ folder, clock: new ManualTime(), sleeper, random: new SeededRandom(1) });
const consumer = await broker.consume(TENANT, { name: 'worker', ackWaitMs: ACK_WAIT_MS });
const deliveries = await consumer.fetch(100, 0);
writeSync(1, deliveries.map(({ body }) => `fetched ${Buffer.from(body).toString()}\n`).join(''));
await wait(600_000);
