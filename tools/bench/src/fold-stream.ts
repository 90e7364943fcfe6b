// B10: ops of many streams in a table of the DynamoDB stand-in, folded from the table's stream into SQLite views, against draining the same
// stream by bare GetRecords that folds nothing.
//   node tools/bench/src/fold-stream.ts [--quick]
import { strict as assert } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { connectDynamodbStreams, createLeasesTable, enableStream } from '@tidemark/libs-feed-dynamodb-streams';
import { FoldWorker, eventReducer } from '@tidemark/libs-fold';
import { SeededRandom } from '@tidemark/libs-kernel/testing';
import { dynamoOpStore } from '@tidemark/libs-op-store-dynamodb';
import { createTables } from '@tidemark/libs-op-store-dynamodb/tables';
import { startServices } from '@tidemark/tools-services';
import { drain } from './fold/drain.ts';
import { MadeOpLog } from './fold/made-op-log.ts';
import { ViewsFile } from './fold/views-file.ts';
import { clock, sleeper } from './fold/world.ts';
import { median } from './measure/alternate.ts';
import { printJson, printTable } from './measure/report.ts';

const FOLDED = 'fold into SQLite views';
const DRAINED = 'bare GetRecords';
const BATCH = 49;
const quick = process.argv.includes('--quick');
const made = new MadeOpLog(quick ? 20 : 100, 245);
const rounds = quick ? 3 : 6;

const { dynamodb, stop } = await startServices({ dynamodb: true });
if (dynamodb.kind === 'absent') throw new Error(dynamodb.reason);
const { endpoint } = dynamodb;
const place = { endpoint, region: 'us-east-1', credentials: { accessKeyId: 'bench', secretAccessKey: 'bench' } };
const client = new DynamoDBClient(place);
const streams = new DynamoDBStreamsClient(place);
const id = randomUUID();
const [opsTable, leasesTable] = [`ops_${id}`, `leases_${id}`];
await createTables(client, { opsTable, registryTable: `registry_${id}` }, sleeper);
await enableStream(client, opsTable, sleeper);
await createLeasesTable(client, leasesTable, sleeper);
let seed = Date.now();
const silent = { info: () => {}, warn: () => {}, error: () => {} };
const openStore = () =>
  dynamoOpStore({
    ...{ client, table: opsTable, clock, sleeper, random: new SeededRandom(seed++), log: silent },
    metrics: { round: () => {}, hole: () => {}, collision: () => {} },
  });
const store = openStore();
for (const stream of made.names) {
  const ops = made.all(stream).map(({ op }) => op);
  for (let n = 0; n < ops.length; n += BATCH) await store.append(stream, ops.slice(n, n + BATCH));
}

const times = new Map<string, number[]>([
  [FOLDED, []],
  [DRAINED, []],
]);
for (let round = 0; round < rounds; round++) {
  for (const [name, run] of [
    [FOLDED, fold],
    [DRAINED, drained],
  ] as const) {
    const ms = await run();
    // The first round warms up.
    if (round > 0) times.get(name)?.push((ms / made.ops) * 1000);
  }
}
client.destroy();
streams.destroy();
await stop();
console.log(`each time ${made.ops} ops, and every document as the last op of its id left it`);
const medians = new Map([...times].map(([name, all]) => [name, median(all)]));
printTable(`1000 ops from the stream of the table (goal: at least 0.4 x)`, medians, DRAINED);
printJson('fold-stream', medians, (medians.get(DRAINED) as number) / (medians.get(FOLDED) as number));
process.exit();

/** By a fold of a new name, which therefore reads the stream from its beginning. */
async function fold(): Promise<number> {
  const file = await ViewsFile.make();
  const parts = { clock, sleeper, random: new SeededRandom(seed++) };
  const feed = await connectDynamodbStreams({
    ...{ ...place, ...parts, opsTable, leasesTable, log: silent },
    name: randomUUID(),
    workerId: 'bench',
  });
  const worker = new FoldWorker({ ...parts, feed, opStore: openStore(), views: file.views, reducers: [eventReducer] });
  const startMs = performance.now();
  for (let ops = 0; ops < made.ops;) ops += (await worker.tick()).ops;
  const ms = performance.now() - startMs;
  for (const stream of made.names) {
    const { documents } = await file.views.documents(stream, 'events', null, 1000);
    const values = documents.map((one) => [one.id, one.fields.get('body')?.members.get('')?.value]);
    assert.deepEqual(values, made.lastValues(stream));
  }
  await feed.close();
  await file.remove();
  return ms;
}

async function drained(): Promise<number> {
  const startMs = performance.now();
  const ops = await drain({ client, streams }, opsTable, made.ops);
  assert.equal(ops, made.ops);
  return performance.now() - startMs;
}
