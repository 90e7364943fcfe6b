// From append to view: one op is pushed to a relay over HTTP, and a reader of the fold worker waits for its seq. The time from the push's
// answer to the reader's, one op after another, for a log and views in SQLite, in Postgres, and in a stand-in for DynamoDB with its stream.
//   node tools/bench/src/fold-lag.ts [--quick]
import { strict as assert } from 'node:assert';
import { startServices } from '@tidemark/tools-services';
import { FoldPair } from './fold/fold-pair.ts';
import { makeTables } from './fold/make-tables.ts';
import { median } from './measure/alternate.ts';
import { printJson, printTable } from './measure/report.ts';

const quick = process.argv.includes('--quick');
const ops = quick ? 100 : 1000;
const WARM_UP = 20;

const { postgres, dynamodb, stop } = await startServices({ postgres: true, dynamodb: true });
if (postgres.kind === 'absent') throw new Error(postgres.reason);
if (dynamodb.kind === 'absent') throw new Error(dynamodb.reason);
const onPostgres = { RELAY_STORE: 'postgres', FOLD_OP_STORE: 'postgres', FOLD_VIEWS: 'postgres' };
const onDynamodb = { RELAY_STORE: 'dynamodb', FOLD_OP_STORE: 'dynamodb', FOLD_VIEWS: 'dynamodb' };
const pairs = [
  await FoldPair.open('SQLite', {}),
  await FoldPair.open('Postgres', { ...onPostgres, DATABASE_URL: postgres.endpoint }),
  await FoldPair.open('DynamoDB stand-in', { ...onDynamodb, ...(await makeTables(dynamodb.endpoint)) }),
];

const lags = new Map<string, number[]>(pairs.map(({ name }) => [name, []]));
for (let n = 0; n < WARM_UP + ops; n++) {
  for (const pair of pairs) {
    const ms = await pair.appendAndWait();
    if (n >= WARM_UP) lags.get(pair.name)?.push(ms);
  }
}
for (const pair of pairs) assert.equal(await pair.folded(), WARM_UP + ops, `${pair.name} folded every op`);
for (const pair of pairs) await pair.close();
await stop();

const medians = new Map<string, number>();
for (const [name, all] of lags) {
  const sorted = all.toSorted((a, b) => a - b);
  medians.set(`${name}, p50`, median(sorted));
  medians.set(`${name}, p99`, sorted[Math.floor(sorted.length * 0.99)] as number);
}
printTable(`from append to view, ${ops} ops one after another`, medians, 'SQLite, p50');
printJson('fold-lag', medians, (medians.get('SQLite, p99') as number) / (medians.get('SQLite, p50') as number));
process.exit();
