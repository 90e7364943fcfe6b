// B11, op log in SQLite or Postgres: appends one by one and pages of 500 where a stream holds 10^3, 10^5 and 10^7 ops, and a read over 10^6
// burned seqs against one without.
//   node tools/bench/src/growth.ts [--store postgres] [--quick]
import { strict as assert } from 'node:assert';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { readAll } from '@tidemark/libs-op-store-contract/testing';
import type { OpStore } from '@tidemark/libs-op-store-contract';
import { startServices } from '@tidemark/tools-services';
import { median } from './measure/alternate.ts';
import { printJson, printTable } from './measure/report.ts';
import { freshOps } from './postgres/writers.ts';
import { GrownDatabase } from './postgres/grown-database.ts';
import { GrownFile } from './sqlite/grown-file.ts';

const PAGE = 500;
const BURNED = 1_000_000;
const GOAL = 1.3;
const WARM_APPENDS = 500;
const quick = process.argv.includes('--quick');
const sizes = quick ? [1e3, 1e4, 1e5] : [1e3, 1e5, 1e7];
const rounds = quick ? 12 : 60;
const repeats = 20;
const store = process.argv.includes('postgres') ? 'postgres' : 'sqlite';

interface Log {
  readonly size: number;
  readonly opStore: OpStore;
  appended: number;
  remove(): Promise<void>;
}

const clock = { now: () => Date.now(), monotonic: () => performance.now() };
const sleeper = { sleep: (ms: number) => (ms === 0 ? turn() : sleep(ms)) };
const services = await startServices({ postgres: store === 'postgres' });
const logs: Log[] = [];
for (const size of sizes) {
  const grown = await grow(size);
  const log = { size, opStore: grown.opStore, appended: 0, remove: () => grown.remove() };
  logs.push(log);
  // Until SQLite's log was emptied once: a file that grows takes longer to sync than one that is written over.
  for (let i = 0; i < WARM_APPENDS; i++) await appendTo(log);
}

const appends = await measure((log) => () => appendTo(log));
const pages = await measure(({ size, opStore }) => async () => {
  const after = Math.floor(Math.random() * (size - PAGE));
  assert.equal((await opStore.read('s', BigInt(after), PAGE)).ops.length, PAGE);
});
const [, , largest] = logs as [Log, Log, Log];
const gaps = await measureGap(largest.opStore);
for (const log of logs) await verify(log);
for (const log of logs) await log.remove();
await services.stop();

const smallest = `${sizes[0]} ops`;
printTable('append of one op, one after another', appends, smallest);
printTable(`page of ${PAGE} ops`, pages, smallest);
printTable(`read of the op after ${BURNED} burned seqs`, gaps, 'none burned');
const slower = (medians: ReadonlyMap<string, number>) => [...medians.values()].at(-1)! / [...medians.values()][0]!;
const ratios = { append: slower(appends), page: slower(pages), burned: slower(gaps) };
for (const [name, ratio] of Object.entries(ratios))
  console.log(`${name}: the largest takes ${ratio.toFixed(2)} x of the smallest (goal: at most ${GOAL})`);
const named = (what: string, medians: ReadonlyMap<string, number>) =>
  [...medians].map(([name, ms]) => [`${what}: ${name}`, ms] as const);
printJson(
  `growth-${store}`,
  new Map([...named('append', appends), ...named('page', pages), ...named('burned', gaps), ...Object.entries(ratios)]),
  ratios.append,
);
process.exit();

/** A log with `size` ops in 's', and 10^6 burned seqs in 'gap' between two. */
async function grow(size: number): Promise<GrownFile | GrownDatabase> {
  const { postgres } = services;
  if (store === 'sqlite') return GrownFile.make(size, BURNED, { clock, sleeper });
  if (postgres.kind === 'absent') throw new Error(postgres.reason);
  return GrownDatabase.make(postgres.endpoint, size, BURNED, { clock, sleeper });
}

async function appendTo(log: Log): Promise<void> {
  await log.opStore.append('s', freshOps(1));
  log.appended++;
}

/** Median milliseconds of one run for each log, in turns; the first quarter of the rounds warms up. */
async function measure(workOn: (log: Log) => () => Promise<void>): Promise<Map<string, number>> {
  return inTurns(logs.map((log) => ({ name: `${log.size} ops`, run: workOn(log) })));
}

async function measureGap(opStore: OpStore): Promise<Map<string, number>> {
  const readAfterFirst = (stream: string) => async () =>
    assert.equal((await opStore.read(stream, 1n, PAGE)).ops.length, 1);
  return inTurns([
    { name: 'none burned', run: readAfterFirst('dense') },
    { name: `${BURNED} burned`, run: readAfterFirst('gap') },
  ]);
}

async function inTurns(
  candidates: readonly { name: string; run: () => Promise<void> }[],
): Promise<Map<string, number>> {
  const times = new Map<string, number[]>(candidates.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const { name, run } of candidates) {
      for (let i = 0; i < repeats; i++) {
        const startMs = performance.now();
        await run();
        if (round >= rounds / 4) times.get(name)?.push(performance.now() - startMs);
      }
    }
  }
  return new Map([...times].map(([name, all]) => [name, median(all)]));
}

/** What was appended stands behind what was there, without a gap. */
async function verify({ size, appended, opStore }: Log): Promise<void> {
  assert.deepEqual(await opStore.describe('s'), { head: BigInt(size + appended), burned: 0n });
  assert.equal((await readAll(opStore, 'gap', PAGE)).at(-1)?.seq, BigInt(BURNED + 2));
}
