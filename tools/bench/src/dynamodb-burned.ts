// B11, op log in DynamoDB: a read over 10^6 burned seqs against one over none, once the burned ones are known; and what it takes to get to
// know them, seq by seq and as one long run. On the stand-in alone.
//   node tools/bench/src/dynamodb-burned.ts [--quick]
import { strict as assert } from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import v8 from 'node:v8';
import vm from 'node:vm';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { dynamoOpStore } from '@tidemark/libs-op-store-dynamodb';
import type { OpStore } from '@tidemark/libs-op-store-contract';
import { SeededRandom } from '@tidemark/libs-kernel/testing';
import type { FaultProxy } from '@tidemark/tools-services';
import { openPlace } from './dynamodb/place.ts';
import { opsOf } from './dynamodb/pushed-chains.ts';
import { median } from './measure/alternate.ts';
import { printJson, printTable } from './measure/report.ts';

const GOAL = 1.3;
const quick = process.argv.includes('--quick');
const burned = quick ? 20_000 : 1_000_000;
const rounds = quick ? 40 : 200;
/** What is kept of the burned seqs, whatever their number. */
const KEPT_MB_MAX = 8;

const place = await openPlace();
if (place.proxy === null) throw new Error('this benchmark puts ops where no relay would: it runs on a stand-in alone');
const proxy: FaultProxy = place.proxy;
const { opsTable: table } = await place.newTables();
// Tokens of transactions come from it, and no two stores may share one.
let seed = Date.now();
const open = (longRuns: boolean): OpStore =>
  dynamoOpStore({
    client: place.openClient(),
    table,
    random: new SeededRandom(seed++),
    log: { info: () => {}, warn: () => {} },
    metrics: { round: () => {}, hole: () => {}, collision: () => {} },
    clock: { now: () => Date.now(), monotonic: () => performance.now() },
    sleeper: { sleep: (ms) => sleep(ms) },
    longRuns,
  });

const store = open(false);
for (const stream of ['dense', 'gap']) await store.append(stream, opsOf(0, 0, 1));
// The counter moves, and nothing is stored: as a relay does that takes seqs and is killed.
const counter = { stream_id: { S: 'gap' }, seq: { N: '0' }, next_seq: { N: String(burned + 1) } };
await place.direct.send(new PutItemCommand({ TableName: table, Item: counter }));
for (const stream of ['dense', 'gap']) await open(false).append(stream, opsOf(0, 1, 1));

const known = await learn('seq by seq', store);
await learn('as one long run', open(true));

const times = new Map<string, number[]>([
  ['none burned', []],
  [`${burned} burned`, []],
]);
for (let round = 0; round < rounds; round++)
  for (const [name, stream] of [
    ['none burned', 'dense'],
    [`${burned} burned`, 'gap'],
  ] as const) {
    const startMs = performance.now();
    const { ops } = await store.read(stream, 1n, 500);
    if (round >= rounds / 4) times.get(name)?.push(performance.now() - startMs);
    assert.equal(ops.length, 1);
  }
await place.close();

const medians = new Map([...times].map(([name, all]) => [name, median(all)]));
printTable(`read of the op after ${burned} burned seqs`, medians, 'none burned');
const [none, gap] = [...medians.values()] as [number, number];
console.log(`\nit takes ${(gap / none).toFixed(2)} x (goal: at most ${GOAL}); memory grew by ${known.toFixed(1)} MB`);
printJson('dynamodb-burned', medians, gap / none);
process.exit();

/** Of what is not garbage. */
function heapMb(): number {
  v8.setFlagsFromString('--expose-gc');
  (vm.runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

/** Reads until the op above the burned seqs is there; answers by how many MB the heap has grown. */
async function learn(how: string, reader: OpStore): Promise<number> {
  proxy.traffic();
  const [heap, startMs] = [heapMb(), performance.now()];
  let reads = 0;
  for (let after = 1n; ;) {
    const page = await reader.read('gap', after, 500);
    reads++;
    if (page.ops.length > 0) {
      assert.equal(page.ops[0]?.seq, BigInt(burned + 2));
      break;
    }
    assert.ok(page.next > after, 'a read that judged nothing');
    after = page.next;
  }
  const secs = ((performance.now() - startMs) / 1000).toFixed(1);
  const requests = JSON.stringify(proxy.traffic().requests);
  console.log(`${burned} burned seqs judged ${how}: ${reads} reads, ${secs} s, ${requests}`);
  await reader.read('gap', 1n, 500);
  assert.deepEqual(Object.keys(proxy.traffic().requests), ['Query'], 'what is known is asked for again');
  const grownMb = heapMb() - heap;
  assert.ok(grownMb < KEPT_MB_MAX, `memory grew by ${grownMb} MB`);
  return grownMb;
}
