// B6: a batch of 1,000 records of 200 bytes, all new, through the ingest flow on the embedded dedupe store and queue, against the same
// code with windows of one record and publishes awaited one by one; and how many syncs a batch makes.
//   node tools/bench/src/ingest-batch.ts [--quick]
import path from 'node:path';
import { syncsOfBatch } from './ingest/count-syncs.ts';
import { EmbeddedIngest } from './ingest/embedded-ingest.ts';
import { median } from './measure/alternate.ts';
import { printJson, printTable } from './measure/report.ts';

const RECORDS = 1000;
const WINDOWED = 'windows of 256';
const ONE_BY_ONE = 'record by record';
const quick = process.argv.includes('--quick');
const rounds = quick ? 4 : 12;

const ways = new Map([
  [WINDOWED, await EmbeddedIngest.open({})],
  [ONE_BY_ONE, await EmbeddedIngest.open({ windowRecordsMax: 1, publishesInFlightMax: 1 })],
]);
const times = new Map<string, number[]>([...ways.keys()].map((name) => [name, []]));
for (let round = 0; round < rounds; round++) {
  for (const [name, ingest] of ways) {
    const startMs = performance.now();
    await ingest.batch(RECORDS);
    // The first round warms up.
    if (round > 0) times.get(name)?.push(performance.now() - startMs);
  }
}
for (const [name, ingest] of ways) console.log(`${name}: ${await ingest.verify()} events once and in order`);
for (const ingest of ways.values()) await ingest.close();

const medians = new Map([...times].map(([name, all]) => [name, median(all)]));
printTable(`a batch of ${RECORDS} records (goal: at least 15 x)`, medians, ONE_BY_ONE);
const syncs = syncsOfBatch(path.join(import.meta.dirname, 'ingest', 'send-batches.ts'), RECORDS);
const told = syncs === null ? 'not counted: there is no strace' : `${syncs.dedupe} dedupe, ${syncs.queue} queue`;
console.log(`\nsyncs of a batch (goal: 4 dedupe, 4 queue): ${told}`);
printJson('ingest-batch', medians, (medians.get(ONE_BY_ONE) as number) / (medians.get(WINDOWED) as number));
