// B4: pushes of 50 ops over HTTP into a relay on Postgres, 64 connections on 16 streams, against raw pg with one transaction for each 50
// rows into the same tables.
//   node tools/bench/src/postgres-append.ts [--quick]
import { startServices } from '@tidemark/tools-services';
import { median } from './measure/alternate.ts';
import { printJson, printTable } from './measure/report.ts';
import { RawWriters } from './postgres/raw-writers.ts';
import { RelayWriters } from './postgres/relay-writers.ts';

const CONNECTIONS = 64;
const STREAMS = 16;
const BATCH = 50;

const quick = process.argv.includes('--quick');
const roundMs = quick ? 1500 : 5000;
const rounds = quick ? 3 : 7;

const { postgres, stop } = await startServices({ postgres: true });
if (postgres.kind === 'absent') throw new Error(postgres.reason);
const shape = { connections: CONNECTIONS, streams: STREAMS, batch: BATCH };
const writers = [await RawWriters.open(postgres.endpoint, shape), await RelayWriters.open(postgres.endpoint, shape)];

const rates = new Map<string, number[]>(writers.map(({ name }) => [name, []]));
for (let round = 0; round < rounds; round++) {
  for (const writer of writers) {
    const startMs = performance.now();
    const ops = await writer.write(startMs + roundMs);
    // The first round warms up.
    if (round > 0) rates.get(writer.name)?.push((ops / (performance.now() - startMs)) * 1000);
  }
}
for (const writer of writers) console.log(`${writer.name}: ${await writer.verify()} ops read back in order`);
for (const writer of writers) await writer.close();
await stop();

const msPerThousand = new Map([...rates].map(([name, all]) => [name, 1e6 / median(all)]));
printTable('1000 ops appended', msPerThousand, RawWriters.title);
for (const [name, all] of rates) console.log(`${name}: ${Math.round(median(all))} ops/s`);
const [raw, relay] = writers.map(({ name }) => msPerThousand.get(name) as number) as [number, number];
printJson('postgres-append', msPerThousand, raw / relay);
process.exit();
