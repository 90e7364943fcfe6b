// B5: pulling a stream of 1,000,000 ops over HTTP in pages of 500 from a relay on SQLite, against plain better-sqlite3 that reads the same rows
// in the same pages and makes JSON of them (as doubles, so it loses digits of 63-bit sites).
//   node tools/bench/src/sqlite-pull.ts [--quick]
import { strict as assert } from 'node:assert';
import { createHash } from 'node:crypto';
import { encodePush } from '@tidemark/libs-wire';
import { IdleProcess } from './idle/idle-process.ts';
import { median } from './measure/alternate.ts';
import { printJson, printTable } from './measure/report.ts';
import { freshOps } from './postgres/writers.ts';
import { Connection } from './sqlite/connection.ts';
import { RawFile } from './sqlite/raw-file.ts';
import { buildRelay } from './sqlite/relay-builds.ts';

const PAGE = 500;
const PUSH = 1000;
const RAW = 'raw better-sqlite3 and JSON.stringify';
const OURS = 'relay over HTTP';
const quick = process.argv.includes('--quick');
const size = quick ? 20_000 : 1_000_000;
const rounds = quick ? 4 : 6;

const relay = await IdleProcess.start(await buildRelay('pull', null));
const connection = await Connection.open(relay.url);
const raw = await RawFile.make();
const select = raw.db.prepare<[number], { seq: number; op_id: string }>(
  `SELECT * FROM stream_ops WHERE stream_id = 's' AND seq > ? ORDER BY seq LIMIT ${PAGE}`,
);
await fill();
assert.equal(await chainOfRelay(), chainOfRaw(), 'the relay serves every op once, in order');

const times = new Map<string, number[]>([
  [OURS, []],
  [RAW, []],
]);
for (let round = 0; round < rounds; round++) {
  for (const [name, pull] of [
    [OURS, pullRelay],
    [RAW, pullRaw],
  ] as const) {
    const startMs = performance.now();
    assert.equal(await pull(), size / PAGE);
    // The first round warms up.
    if (round > 0) times.get(name)?.push(((performance.now() - startMs) / size) * 1000);
  }
}
connection.close();
await relay.stop();
raw.remove();

const medians = new Map([...times].map(([name, all]) => [name, median(all)]));
printTable(`1000 ops of ${size}, in pages of ${PAGE} (goal: at least 0.5 x)`, medians, RAW);
printJson('sqlite-pull', medians, (medians.get(RAW) as number) / (medians.get(OURS) as number));
process.exit();

async function fill(): Promise<void> {
  raw.db.pragma('synchronous = OFF');
  for (let n = 0; n < size; n += PUSH) {
    const ops = freshOps(PUSH);
    raw.append('s', BigInt(n + 1), ops);
    assert.equal((await connection.post('/streams/s/ops', encodePush(ops))).status, 200);
  }
}

/** Answers how many pages held ops. */
async function pullRelay(): Promise<number> {
  let pages = 0;
  for (let cursor = '0'; ; pages++) {
    const { body } = await connection.get(`/streams/s/ops?since=${cursor}&limit=${PAGE}`);
    const next = /"next":(\d+)\}$/.exec(body.toString('latin1', body.length - 40))?.[1] as string;
    if (next === cursor) return pages;
    cursor = next;
  }
}

async function pullRaw(): Promise<number> {
  let [pages, bytes] = [0, 0];
  for (let cursor = 0; ; pages++) {
    const ops = select.all(cursor);
    if (ops.length === 0) return bytes > 0 ? pages : 0;
    cursor = (ops.at(-1) as { seq: number }).seq;
    bytes += Buffer.from(JSON.stringify({ ops, next: cursor })).length;
  }
}

async function chainOfRelay(): Promise<string> {
  const chain = createHash('sha256');
  for (let cursor = 0; ;) {
    const { body } = await connection.get(`/streams/s/ops?since=${cursor}&limit=${PAGE}`);
    const { ops } = JSON.parse(body.toString()) as { ops: { op_id: string }[] };
    if (ops.length === 0) return chain.digest('hex');
    for (const { op_id } of ops) chain.update(`${++cursor} ${op_id}\n`);
  }
}

function chainOfRaw(): string {
  const chain = createHash('sha256');
  for (let cursor = 0; ;) {
    const ops = select.all(cursor);
    if (ops.length === 0) return chain.digest('hex');
    for (const { seq, op_id } of ops) chain.update(`${(cursor = seq)} ${op_id}\n`);
  }
}
