// B12: from a push to one relay until a reader of events of another has it, against a bare commit, NATS, and a select.
//   node tools/bench/src/tail-latency.ts [--quick]
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startServices } from '@tidemark/tools-services';
import { median } from './measure/alternate.ts';
import { printJson, printTable } from './measure/report.ts';
import { BareDelivery } from './tail/bare-delivery.ts';
import type { Delivery } from './tail/delivery.ts';
import { RelayDelivery } from './tail/relay-delivery.ts';

const quick = process.argv.includes('--quick');
const rounds = quick ? 3 : 9;
const deliveries = quick ? 100 : 400;
/** Readers are idle when an op comes, as they mostly are. */
const PAUSE_MS = 3;

const { nats, stop } = await startServices({ nats: true });
if (nats.kind === 'absent') throw new Error(nats.reason);
const folder = await mkdtemp(path.join(tmpdir(), 'tidemark-bench-'));
const bare = await BareDelivery.open(folder, nats.endpoint);
const told = await RelayDelivery.open('push to A, event of B', path.join(folder, 'told'));
const ways: readonly Delivery[] = [bare, told];

const times = new Map<string, { p50: number[]; p99: number[] }>(ways.map(({ name }) => [name, { p50: [], p99: [] }]));
for (let round = 0; round < rounds; round++) {
  for (const way of ways) {
    const ms: number[] = [];
    for (let n = 0; n < deliveries; n++) {
      ms.push(await way.deliver());
      await sleep(PAUSE_MS);
    }
    ms.sort((a, b) => a - b);
    // The first round warms up.
    if (round === 0) continue;
    times.get(way.name)?.p50.push(ms[Math.floor(ms.length * 0.5)]!);
    times.get(way.name)?.p99.push(ms[Math.floor(ms.length * 0.99)]!);
  }
}
for (const way of ways) console.log(`${way.name}: ${way.verify()} ops delivered once and in order`);
for (const way of ways) await way.close();
await stop();
await rm(folder, { recursive: true, force: true });

const p50 = new Map([...times].map(([name, of]) => [name, median(of.p50)]));
const p99 = new Map([...times].map(([name, of]) => [name, median(of.p99)]));
printTable('one op delivered, half of them within', p50, bare.name);
printTable('one op delivered, 99 of 100 within', p99, bare.name);
printJson('tail-latency', p99, (p99.get(told.name) as number) / (p99.get(bare.name) as number));
process.exit();
