// B2: write units for each stored op in DynamoDB, with 1 and with 4 writers of one stream, each op an item of about 1 KB: rounds of up to 49
// ops, pushed 500 at a time as clients do, against the single-op protocol. Cancelled rounds count. With a region and credentials of AWS in
// the environment it runs there, and costs what it writes.
//   node tools/bench/src/dynamodb-units.ts [--quick]
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DynamoMetrics, dynamoOpStore } from '@tidemark/libs-op-store-dynamodb';
import type { OpStore } from '@tidemark/libs-op-store-contract';
import { SeededRandom } from '@tidemark/libs-kernel/testing';
import type { Op } from '@tidemark/libs-wire';
import { delay } from '@tidemark/tools-services';
import { openPlace } from './dynamodb/place.ts';
import { PushedChains, opsOf } from './dynamodb/pushed-chains.ts';
import { UnitMeter } from './dynamodb/unit-meter.ts';

const DELAY_MS = 15;
const GOAL = 0.55;
const quick = process.argv.includes('--quick');
/** Of each writer: pushes, and the ops of each. A round of one op costs the same however many are pushed. */
const work = quick
  ? { many: { pushes: 2, batch: 500 }, single: { pushes: 1, batch: 50 } }
  : { many: { pushes: 8, batch: 500 }, single: { pushes: 4, batch: 50 } };

const place = await openPlace();
place.proxy?.add(delay(DELAY_MS));
const quiet = { info: () => {}, warn: () => {} };
const unmeasured: DynamoMetrics = { round: () => {}, hole: () => {}, collision: () => {} };
const world = {
  clock: { now: () => Date.now(), monotonic: () => performance.now() },
  sleeper: {
    sleep: (ms: number, signal?: AbortSignal) => sleep(ms, undefined, { ...(signal && { signal }) }).catch(() => {}),
  },
};
let seed = Date.now();

interface Work {
  readonly pushes: number;
  readonly batch: number;
}

interface Result {
  readonly unitsPerOp: number;
  readonly rounds: number;
  readonly cancelled: number;
}

const results = new Map<string, Result>();
for (const writers of [1, 4])
  for (const [name, opsMax, own] of [
    ['rounds of one op', 1, work.single],
    ['rounds of up to 49 ops', 49, work.many],
  ] as const)
    results.set(nameOf(name, writers), await measure(writers, opsMax, own));
await place.close();

const width = Math.max(...[...results.keys()].map((name) => name.length));
console.log('\nwrite units for each stored op of 1 KB\n' + '-'.repeat(38));
for (const [name, { unitsPerOp, rounds, cancelled }] of results)
  console.log(
    `${name.padEnd(width)}  ${unitsPerOp.toFixed(2).padStart(6)}  ${cancelled} of ${rounds} rounds cancelled`,
  );
const ratioWith = (writers: number) =>
  (results.get(nameOf('rounds of up to 49 ops', writers)) as Result).unitsPerOp /
  (results.get(nameOf('rounds of one op', writers)) as Result).unitsPerOp;
const ratios = [1, 4].map(ratioWith);
console.log(
  `\nagainst the single-op protocol: ${ratios.map((ratio) => ratio.toFixed(2)).join(' x and ')} x (goal: at most ${GOAL})`,
);
const medians = Object.fromEntries(
  [...results].map(([name, { unitsPerOp }]) => [name, Number(unitsPerOp.toPrecision(4))]),
);
const machine = { cores: availableParallelism(), node: process.version };
console.log(
  `\n${JSON.stringify({ name: 'dynamodb-units', medians, ratio: Number(Math.max(...ratios).toPrecision(4)), ...machine })}`,
);
process.exit();

function nameOf(name: string, writers: number): string {
  return `${name}, ${writers === 1 ? '1 writer' : `${writers} writers`}`;
}

async function measure(writers: number, maxOpsPerRound: number, { pushes, batch }: Work): Promise<Result> {
  const { opsTable: table } = await place.newTables();
  const chains = new PushedChains();
  const meters: UnitMeter[] = [];
  const open = (): OpStore => {
    const client = new UnitMeter(place.openClient());
    meters.push(client);
    const parts = { client, table, random: new SeededRandom(seed++), log: quiet, metrics: unmeasured, ...world };
    return dynamoOpStore({ ...parts, maxOpsPerRound, contentionRounds: 10_000 });
  };
  const ops = await Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      const store = open();
      for (let n = 0; n < pushes; n++) {
        const ops = opsOf(writer, n * batch, batch);
        const outcomes = await store.append('s', ops);
        chains.note(ops, outcomes.at(-1)?.seq ?? 0n);
      }
      return pushes * batch;
    }),
  );
  const stored = await chains.verify(readBack(open()));
  console.log(
    `${nameOf(`rounds of ${maxOpsPerRound}`, writers)}: ${stored} of ${ops.reduce((a, b) => a + b)} ops read back in order`,
  );
  const sum = (of: (meter: UnitMeter) => number) => meters.reduce((total, meter) => total + of(meter), 0);
  return {
    unitsPerOp: sum(({ units }) => units) / stored,
    rounds: sum(({ rounds }) => rounds),
    cancelled: sum(({ cancelled }) => cancelled),
  };
}

async function* readBack(store: OpStore): AsyncIterable<readonly [bigint, Op]> {
  for (let after = 0n; ;) {
    const { ops, next } = await store.read('s', after, 1000);
    for (const { seq, op } of ops) yield [seq, op];
    if (next === after) return;
    after = next;
  }
}
