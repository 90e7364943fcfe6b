// B7: ingest sustained on JetStream: 16 connections that send NDJSON of 256 new records, against bare publishes with message ids, 256 in
// flight. B8: the same bodies again, all of whose ids are known, against B7's own rate.
//   node tools/bench/src/ingest-stream.ts [--quick]
import { availableParallelism } from 'node:os';
import { startServices } from '@tidemark/tools-services';
import { RawPublisher } from './ingest/raw-publisher.ts';
import { Records } from './ingest/records.ts';
import { ServiceIngest } from './ingest/service-ingest.ts';
import { median } from './measure/alternate.ts';

const CONNECTIONS = 16;
const WINDOW = 256;
const quick = process.argv.includes('--quick');
const rounds = quick ? 3 : 8;
const batches = quick ? 2 : 8;

const { nats, stop } = await startServices({ nats: true });
if (nats.kind === 'absent') throw new Error(nats.reason);
const ingest = await ServiceIngest.open(nats.endpoint, CONNECTIONS);
const raw = await RawPublisher.open(nats.endpoint);
const [ours, bare] = [new Records(CONNECTIONS, WINDOW), new Records(1, WINDOW)];

const rates = { fresh: [] as number[], known: [] as number[], raw: [] as number[] };
for (let round = 0; round < rounds; round++) {
  const bodies = Array.from({ length: CONNECTIONS }, (_, lane) =>
    Array.from({ length: batches }, () => ours.batch(lane)),
  );
  const fresh = await ingest.send(bodies, 'succeeded');
  const known = await ingest.send(bodies, 'duplicates');
  const publishes = await raw.send(bare, CONNECTIONS * batches * WINDOW, WINDOW);
  // The first round warms up.
  if (round === 0) continue;
  rates.fresh.push(fresh);
  rates.known.push(known);
  rates.raw.push(publishes);
}
console.log(`ingest: ${ours.verify(await raw.eventIds())} events once and in order`);
console.log(`raw: ${bare.verify(await raw.ids())} events once and in order`);
await raw.close();
await ingest.close();
await stop();

const perSecond = { fresh: median(rates.fresh), known: median(rates.known), raw: median(rates.raw) };
const row = (name: string, rate: number, of: number) =>
  console.log(
    `${name.padEnd(34)}${Math.round(rate).toLocaleString('en').padStart(10)} records/s  ${(rate / of).toFixed(2)} x`,
  );
console.log('\nrecords of 200 bytes (goals: new 0.5 x of bare, known 2 x of new)');
row('bare publishes', perSecond.raw, perSecond.raw);
row('ingest, all ids new', perSecond.fresh, perSecond.raw);
row('ingest, all ids known', perSecond.known, perSecond.fresh);
const round = (n: number) => Number(n.toPrecision(4));
console.log(
  `\n${JSON.stringify({
    name: 'ingest-stream',
    perSecond: { fresh: round(perSecond.fresh), known: round(perSecond.known), raw: round(perSecond.raw) },
    ratio: round(perSecond.fresh / perSecond.raw),
    known: round(perSecond.known / perSecond.fresh),
    cores: availableParallelism(),
    node: process.version,
  })}`,
);
process.exit();
