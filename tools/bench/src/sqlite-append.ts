// B3: pushes over HTTP into a relay on SQLite, each connection on its own stream. Single ops on 64 connections, against the same relay without joining and
// one with a store that does nothing; and 500-op pushes on 4, against plain better-sqlite3 with one transaction for each 500 rows, no HTTP.
//   node tools/bench/src/sqlite-append.ts [--quick]
import { strict as assert } from 'node:assert';
import { median } from './measure/alternate.ts';
import { printJson, printTable } from './measure/report.ts';
import { freshOps } from './postgres/writers.ts';
import { RawFile } from './sqlite/raw-file.ts';
import { buildRelay } from './sqlite/relay-builds.ts';
import { RelayPushes } from './sqlite/relay-pushes.ts';

const BATCH = 500;
const GOALS = 'single: at least 4 x of unjoined, 0.7 x of the no-op store; 500-op pushes: at least 0.4 x of raw';
const quick = process.argv.includes('--quick');
const roundMs = quick ? 700 : 4000;
const rounds = quick ? 3 : 7;

const joined = await RelayPushes.open('joined', await buildRelay('joined', null));
const unjoined = await RelayPushes.open('unjoined', await buildRelay('unjoined', 'unjoined-store.ts'));
const noOp = await RelayPushes.open('no-op store', await buildRelay('no-op', 'no-op-store.ts'));
const raw = await RawFile.make();
let rawOps = 0;

/** Names with what they do for so long; answers how many ops. */
const singles = [joined, unjoined, noOp].map((relay) => ({
  name: relay.name,
  run: (untilMs: number) => relay.push(1, untilMs),
}));
const batches = [
  { name: 'joined', run: (untilMs: number) => joined.push(BATCH, untilMs, 4) },
  { name: 'no-op store', run: (untilMs: number) => noOp.push(BATCH, untilMs, 4) },
  { name: 'raw better-sqlite3', run: async (untilMs: number) => appendRaw(untilMs) },
];

const single = await measure(singles);
const batch = await measure(batches);
for (const relay of [joined, unjoined]) console.log(`${relay.name}: ${await relay.verify()} ops read back in order`);
assert.equal(raw.db.prepare('SELECT count(*) FROM stream_ops').pluck().get(), rawOps);
for (const relay of [joined, unjoined, noOp]) await relay.close();
raw.remove();

printTable('1000 ops pushed one by one', single, 'joined');
printTable(`1000 ops in pushes of ${BATCH}`, batch, 'raw better-sqlite3');
const times = (medians: ReadonlyMap<string, number>, name: string) =>
  (medians.get(name) as number) / (medians.get('joined') as number);
console.log(`\ngoals: ${GOALS}`);
const ratios = {
  'of unjoined': times(single, 'unjoined'),
  'of the no-op store': times(single, 'no-op store'),
  'of raw': times(batch, 'raw better-sqlite3'),
};
for (const [name, ratio] of Object.entries(ratios)) console.log(`joined reaches ${ratio.toFixed(2)} x ${name}`);
const named = (what: string, medians: ReadonlyMap<string, number>) =>
  [...medians].map(([name, ms]) => [`${what}: ${name}`, ms] as const);
printJson(
  'sqlite-append',
  new Map([...named('single', single), ...named('batch', batch), ...Object.entries(ratios)]),
  ratios['of unjoined'],
);
process.exit();

/** Median milliseconds for 1000 ops, by name; in turns. The first round warms up. */
async function measure(
  writers: readonly { name: string; run: (untilMs: number) => Promise<number> }[],
): Promise<Map<string, number>> {
  const all = new Map<string, number[]>(writers.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const { name, run } of writers) {
      const startMs = performance.now();
      const ops = await run(startMs + roundMs);
      if (round > 0) all.get(name)?.push(((performance.now() - startMs) / ops) * 1000);
    }
  }
  return new Map([...all].map(([name, ms]) => [name, median(ms)]));
}

function appendRaw(untilMs: number): number {
  const before = rawOps;
  while (performance.now() < untilMs) {
    raw.append('s', BigInt(rawOps + 1), freshOps(BATCH));
    rawOps += BATCH;
  }
  return rawOps - before;
}
