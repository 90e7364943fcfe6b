// B11, dedupe: reserves of 256 ids on the embedded store where it holds 10^4 and 10^7 ids: all new, as nearly every window is, and all known.
//   node tools/bench/src/dedupe-growth.ts [--quick]
import { strict as assert } from 'node:assert';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GrownStore } from './dedupe/grown-store.ts';
import { median } from './measure/alternate.ts';
import { printJson, printTable } from './measure/report.ts';

const WINDOW = 256;
const GOAL = 1.3;
const quick = process.argv.includes('--quick');
const sizes = quick ? [1e4, 1e5] : [1e4, 1e6, 1e7];
const rounds = quick ? 40 : 200;

const folder = mkdtempSync(join(tmpdir(), 'tidemark-bench-growth-'));
try {
  const stores: GrownStore[] = [];
  for (const size of sizes) stores.push(await GrownStore.make(join(folder, `${size}`), size));
  const fresh = await inTurns(stores, async (store, turn) => {
    const { claims, tookMs } = await store.reserveNew(turn, WINDOW);
    assert.ok(claims.every(({ status }) => status === 'claimed'));
    // One window in four is stored, so that the store goes on growing and merging while it is measured.
    if (turn % 4 === 0) await store.commit(claims);
    else await store.release(claims);
    return tookMs;
  });
  const known = await inTurns(stores, async (store, turn) => {
    const { claims, tookMs } = await store.reserveKnown(turn, WINDOW);
    assert.ok(claims.every(({ status }) => status === 'duplicate'));
    return tookMs;
  });
  for (const store of stores) await store.close();

  const smallest = `${sizes[0]} stored`;
  printTable(`reserve of ${WINDOW} new ids`, fresh, smallest);
  printTable(`reserve of ${WINDOW} known ids`, known, smallest);
  const slower = (medians: ReadonlyMap<string, number>) =>
    medians.get(`${sizes.at(-1)} stored`)! / medians.get(smallest)!;
  console.log(`new: the largest takes ${slower(fresh).toFixed(2)} x of the smallest (goal: at most ${GOAL})`);
  console.log(`known: the largest takes ${slower(known).toFixed(2)} x of the smallest`);
  const named = (what: string, medians: ReadonlyMap<string, number>) =>
    [...medians].map(([name, ms]) => [`${what}: ${name}`, ms] as const);
  printJson('dedupe-growth', new Map([...named('new', fresh), ...named('known', known)]), slower(fresh));
} finally {
  rmSync(folder, { recursive: true });
}

/** Median milliseconds by store; they take turns. The first quarter of the rounds warms up. */
async function inTurns(
  stores: readonly GrownStore[],
  run: (store: GrownStore, turn: number) => Promise<number>,
): Promise<Map<string, number>> {
  const times = stores.map((): number[] => []);
  for (let turn = 0; turn < rounds; turn++)
    for (const [i, store] of stores.entries()) times[i]!.push(await run(store, turn));
  return new Map(stores.map(({ size }, i) => [`${size} stored`, median(times[i]!.slice(rounds / 4))]));
}
