// B1: one stream in DynamoDB, 8 writers on two relays that push 50 ops at a time, 15 ms each way: rounds of up to 49 ops against the
// single-op protocol; and, where a partition key takes no more than 1,000 write units a second, against that ceiling. With a region and
// credentials of AWS in the environment it runs there, and costs what it writes.
//   node tools/bench/src/dynamodb-append.ts [--quick]
import { delay, limitWriteUnits } from '@tidemark/tools-services';
import { openPlace } from './dynamodb/place.ts';
import { RelayPair } from './dynamodb/relay-pair.ts';
import { median } from './measure/alternate.ts';
import { printJson, printTable } from './measure/report.ts';

const SHAPE = { writers: 8, batch: 50 };
const DELAY_MS = 15;
const KEY_UNITS_PER_SECOND = 1000;
/** A round of 49: the counter, the check, and a claim and an op for each, at two units. */
const UNITS_PER_OP = (2 + 2 + 49 * 4) / 49;
const GOALS = { single: 30, ceiling: 0.8 };

const quick = process.argv.includes('--quick');
const rounds = quick ? 1 : 5;
const pushes = { many: quick ? 5 : 20, single: 1, bounded: quick ? 2 : 6 };

const place = await openPlace();
place.proxy?.add(delay(DELAY_MS));
const open = async (name: string, opsMax: number) => {
  const settings = { ...place.settings(await place.newTables()), RELAY_DYNAMODB_MAX_OPS_PER_ROUND: String(opsMax) };
  return RelayPair.open(name, settings, SHAPE);
};
const many = await open('rounds of up to 49 ops', 49);
const single = await open('rounds of one op', 1);
await many.push(1);

const rates = new Map<string, number[]>([
  [single.name, []],
  [many.name, []],
]);
for (let round = 0; round < rounds; round++) {
  rates.get(single.name)?.push(await rateOf(single, pushes.single));
  rates.get(many.name)?.push(await rateOf(many, pushes.many));
}

const bounded: number[] = [];
// A refusal is on its way as long as an answer.
place.proxy?.clear();
place.proxy?.add(limitWriteUnits(KEY_UNITS_PER_SECOND, 'stream_id'));
place.proxy?.add(delay(DELAY_MS));
for (let round = 0; round < rounds; round++) bounded.push(await rateOf(many, pushes.bounded));
place.proxy?.clear();

for (const pair of [single, many]) console.log(`${pair.name}: ${await pair.verify()} ops read back in order`);
for (const pair of [single, many]) await pair.close();
await place.close();

const ceiling = KEY_UNITS_PER_SECOND / UNITS_PER_OP;
const perThousand = (rate: number) => 1e6 / rate;
const medians = new Map([...rates].map(([name, all]) => [name, perThousand(median(all))]));
printTable('1000 ops appended to one stream', medians, single.name);
const boundedMedians = new Map([
  ['the ceiling', perThousand(ceiling)],
  [many.name, perThousand(median(bounded))],
]);
printTable(`the same with ${KEY_UNITS_PER_SECOND} write units a second`, boundedMedians, 'the ceiling');
const ratios = {
  single: (medians.get(single.name) as number) / (medians.get(many.name) as number),
  ceiling: median(bounded) / ceiling,
};
console.log(`\nagainst rounds of one op: ${ratios.single.toFixed(1)} x (goal: at least ${GOALS.single})`);
console.log(`against the ceiling: ${ratios.ceiling.toFixed(2)} x (goal: at least ${GOALS.ceiling})`);
const figures = new Map([...medians, ['bounded', perThousand(median(bounded))], ['of ceiling', ratios.ceiling]]);
printJson('dynamodb-append', figures, ratios.single);
process.exit();

/** Ops a second. */
async function rateOf(pair: RelayPair, pushesOfEach: number): Promise<number> {
  const startMs = performance.now();
  const ops = await pair.push(pushesOfEach);
  return (ops / (performance.now() - startMs)) * 1000;
}
