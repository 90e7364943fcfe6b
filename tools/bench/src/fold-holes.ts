// B11, fold: one stream of 1,000,000 ops with a burned seq below each of them, folded into SQLite views, against as many ops without any.
//   node tools/bench/src/fold-holes.ts [--quick]
import { strict as assert } from 'node:assert';
import { MemoryChangeLog, MemoryFeed } from '@tidemark/libs-feed-contract/testing';
import { FoldWorker, eventReducer } from '@tidemark/libs-fold';
import { SeededRandom } from '@tidemark/libs-kernel/testing';
import { SparseOpLog } from './fold/sparse-op-log.ts';
import { ViewsFile } from './fold/views-file.ts';
import { clock, sleeper } from './fold/world.ts';
import { median } from './measure/alternate.ts';
import { printJson, printTable } from './measure/report.ts';

const STREAM = '0.events';
const DENSE = 'dense';
const quick = process.argv.includes('--quick');
const ops = quick ? 20_000 : 1_000_000;
const HOLED = `${ops} burned seqs`;
const rounds = quick ? 4 : 5;

const logs = new Map([
  [HOLED, new SparseOpLog(ops, 2n)],
  [DENSE, new SparseOpLog(ops, 1n)],
]);
const times = new Map<string, number[]>([...logs.keys()].map((name) => [name, []]));
let grownMb = 0;
for (let round = 0; round < rounds; round++) {
  for (const [name, log] of logs) {
    const beforeMb = process.memoryUsage().rss / 1e6;
    const ms = await fold(log);
    grownMb = Math.max(grownMb, process.memoryUsage().rss / 1e6 - beforeMb);
    // The first round warms up.
    if (round > 0) times.get(name)?.push((ms / ops) * 1000);
  }
}
const medians = new Map([...times].map(([name, all]) => [name, median(all)]));
printTable(`1000 of ${ops} ops folded (goal: at most 1.3 x the time of a dense stream)`, medians, DENSE);
console.log(`memory grew by ${grownMb.toFixed(0)} MB at most in a round`);
printJson('fold-holes', medians, (medians.get(HOLED) as number) / (medians.get(DENSE) as number));
process.exit();

async function fold(log: SparseOpLog): Promise<number> {
  const file = await ViewsFile.make();
  const changes = new MemoryChangeLog();
  const head = await log.head();
  changes.announce(STREAM, head);
  const feed = new MemoryFeed(changes, sleeper);
  const parts = { clock, sleeper, random: new SeededRandom(1) };
  const worker = new FoldWorker({ ...parts, feed, opStore: log, views: file.views, reducers: [eventReducer] });
  const startMs = performance.now();
  for (let folded = 0; folded < ops;) folded += (await worker.tick()).ops;
  const ms = performance.now() - startMs;
  const mark = await file.views.mark(STREAM);
  assert.deepEqual([mark?.watermark.foldedThrough, mark?.watermark.holes], [head, []]);
  const { documents } = await file.views.documents(STREAM, 'events', null, 1000);
  const values = documents.map(({ id, fields }) => [id, fields.get('body')?.members.get('')?.value]);
  assert.deepEqual(values, log.lastValues());
  await file.remove();
  return ms;
}
