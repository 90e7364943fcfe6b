// B9: 1,000,000 ops over 1,000 streams from an in-memory feed and log folded into SQLite views, against plain better-sqlite3 that upserts a
// row for each of the same ops, 500 in a transaction, into the same table.
//   node tools/bench/src/fold-views.ts [--quick]
import { strict as assert } from 'node:assert';
import { FoldWorker, eventReducer } from '@tidemark/libs-fold';
import { MemoryChangeLog, MemoryFeed } from '@tidemark/libs-feed-contract/testing';
import { SeededRandom } from '@tidemark/libs-kernel/testing';
import { MadeOpLog } from './fold/made-op-log.ts';
import { RawViews } from './fold/raw-views.ts';
import { ViewsFile } from './fold/views-file.ts';
import { clock, sleeper } from './fold/world.ts';
import { median } from './measure/alternate.ts';
import { printJson, printTable } from './measure/report.ts';

const FOLDED = 'fold into SQLite views';
const RAW = 'raw upserts, 500 per transaction';
const quick = process.argv.includes('--quick');
const streams = quick ? 100 : 1000;
const opsPerStream = quick ? 200 : 1000;
const rounds = quick ? 4 : 5;

const times = new Map<string, number[]>([
  [FOLDED, []],
  [RAW, []],
]);
const log = new MadeOpLog(streams, opsPerStream);
for (let round = 0; round < rounds; round++) {
  for (const [name, run] of [
    [FOLDED, fold],
    [RAW, upsert],
  ] as const) {
    const ms = await run();
    // The first round warms up.
    if (round > 0) times.get(name)?.push((ms / log.ops) * 1000);
  }
}
console.log(`each time ${log.ops} ops, and every document as the last op of its id left it`);
const medians = new Map([...times].map(([name, all]) => [name, median(all)]));
printTable(`1000 ops of ${streams} streams folded (goal: at least 0.25 x)`, medians, RAW);
printJson('fold-views', medians, (medians.get(RAW) as number) / (medians.get(FOLDED) as number));
process.exit();

async function fold(): Promise<number> {
  const file = await ViewsFile.make();
  const changes = new MemoryChangeLog();
  for (const stream of log.names) changes.announce(stream, BigInt(opsPerStream));
  const worker = new FoldWorker({
    feed: new MemoryFeed(changes, sleeper),
    opStore: log,
    views: file.views,
    reducers: [eventReducer],
    clock,
    sleeper,
    random: new SeededRandom(1),
  });
  const startMs = performance.now();
  for (let ops = 0; ops < log.ops;) ops += (await worker.tick()).ops;
  const ms = performance.now() - startMs;
  for (const stream of log.names) {
    const mark = await file.views.mark(stream);
    assert.deepEqual([mark?.watermark.foldedThrough, mark?.watermark.holes], [BigInt(opsPerStream), []]);
    const { documents } = await file.views.documents(stream, 'events', null, 1000);
    const values = documents.map(({ id, fields }) => [id, fields.get('body')?.members.get('')?.value]);
    assert.deepEqual(values, log.lastValues(stream));
  }
  await file.remove();
  return ms;
}

async function upsert(): Promise<number> {
  const file = await RawViews.make();
  const startMs = performance.now();
  for (const stream of log.names) file.upsert(stream, log.all(stream));
  const ms = performance.now() - startMs;
  for (const stream of log.names) assert.deepEqual(file.values(stream), log.lastValues(stream));
  file.remove();
  return ms;
}
