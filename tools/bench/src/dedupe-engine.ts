// Which embedded engine keeps committed ids: commits of 256 ids with one fsync each, and reads of 256 ids, half of them known;
// then what a sweep costs the reserves of the adapter.
//   node tools/bench/src/dedupe-engine.ts [--quick]
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Engine, VALUE, openEngines } from './dedupe/engines.ts';
import { halfKnown, storedIds } from './dedupe/ids.ts';
import { reserveBesideSweep } from './dedupe/sweep-beside.ts';
import { median } from './measure/alternate.ts';
import { printJson, printTable } from './measure/report.ts';

const WINDOW = 256;
const FILL = 50_000;
const OURS = 'classic-level';
const quick = process.argv.includes('--quick');
const sizes = quick ? [10_000, 100_000] : [10_000, 1_000_000];
const rounds = quick ? 24 : 100;

const folder = mkdtempSync(join(tmpdir(), 'tidemark-bench-dedupe-'));
try {
  const medians = new Map<string, number>();
  const engines = await openEngines(folder);
  let stored = 0;
  for (const size of sizes) stored = await measure(engines, await fill(engines, stored, size), medians);
  for (const engine of engines) await closeVerified(engine, stored);
  await measureSweep(medians);
  const largest = `commit, ${sizes.at(-1)} stored`;
  const best = Math.min(
    ...engines.filter(({ name }) => name !== OURS).map(({ name }) => medians.get(`${largest}: ${name}`)!),
  );
  printJson('dedupe-engine', medians, best / medians.get(`${largest}: ${OURS}`)!);
} finally {
  rmSync(folder, { recursive: true });
}

/** Sorted in each batch: the order inside a transaction is the engine's business, and B-trees like it. */
async function fill(engines: readonly Engine[], from: number, to: number): Promise<number> {
  for (let n = from; n < to; n += FILL) {
    const keys = storedIds(n, Math.min(FILL, to - n)).sort();
    for (const engine of engines) await engine.commit(keys);
  }
  return to;
}

/** Answers how many ids are stored afterwards. */
async function measure(engines: readonly Engine[], size: number, all: Map<string, number>): Promise<number> {
  const fresh = Array.from({ length: rounds }, (_, turn) => storedIds(size + turn * WINDOW, WINDOW));
  const asked = fresh.map((_, turn) => halfKnown(size, WINDOW, turn));
  report(`commit, ${size} stored`, await alternate(engines, (engine, turn) => engine.commit(fresh[turn]!)), all);
  report(`lookup, ${size} stored`, await alternate(engines, (engine, turn) => engine.lookup(asked[turn]!.keys)), all);
  for (const engine of engines)
    for (let turn = 0; turn < rounds; turn++) await verify(engine, fresh[turn]!, asked[turn]!);
  return size + rounds * WINDOW;
}

/** Milliseconds of every turn, by engine; engines take turns, so that whatever disturbs the machine disturbs all of them. */
async function alternate(
  engines: readonly Engine[],
  work: (engine: Engine, turn: number) => Promise<unknown>,
): Promise<Map<string, number[]>> {
  const times = new Map<string, number[]>(engines.map(({ name }) => [name, []]));
  for (let turn = 0; turn < rounds; turn++) {
    for (const engine of engines) {
      const startMs = performance.now();
      await work(engine, turn);
      times.get(engine.name)!.push(performance.now() - startMs);
    }
  }
  return times;
}

async function verify(engine: Engine, fresh: string[], asked: { keys: string[]; known: boolean[] }): Promise<void> {
  const isStored = (value: Uint8Array | undefined) => value !== undefined && VALUE.equals(value);
  assert.ok((await engine.lookup(fresh)).every(isStored), `${engine.name} keeps what it committed`);
  assert.deepEqual((await engine.lookup(asked.keys)).map(isStored), asked.known, `${engine.name} knows what it has`);
}

async function closeVerified(engine: Engine, stored: number): Promise<void> {
  assert.equal(await engine.count(), stored, `${engine.name} has every id once`);
  await engine.close();
}

async function measureSweep(all: Map<string, number>): Promise<void> {
  const expired = quick ? 50_000 : 500_000;
  const { alone, beside } = await reserveBesideSweep(join(folder, 'swept'), expired);
  const times = new Map([
    ['no sweep, p50', median(alone)],
    [`sweep of ${expired}, p50`, median(beside)],
    ['no sweep, p99', p99(alone)],
    [`sweep of ${expired}, p99`, p99(beside)],
  ]);
  printTable(`reserve of ${WINDOW} new ids (embedded adapter)`, times, 'no sweep, p50');
  for (const [name, ms] of times) all.set(`reserve, ${name}`, ms);
}

/** The first quarter of the rounds warms up and is not counted. */
function report(title: string, times: ReadonlyMap<string, number[]>, all: Map<string, number>): void {
  const medians = new Map([...times].map(([name, ms]) => [name, median(ms.slice(Math.floor(rounds / 4)))]));
  printTable(`${title}, ${WINDOW} ids`, medians, OURS);
  for (const [name, ms] of medians) all.set(`${title}: ${name}`, ms);
}

function p99(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)]!;
}
