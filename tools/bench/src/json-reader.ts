// B14: how fast ops and records are read without loss, against JSON.parse of the same text, which loses digits.
//   node tools/bench/src/json-reader.ts [--quick]
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { sharedData } from '@tidemark/libs-kernel/testing';
import { decodePush, decodeUtf8, JsonNumber, JsonObject, type JsonValue, jsonEnd, readJson } from '@tidemark/libs-wire';
import { parse as parseLossless } from 'lossless-json';
import { cutStringsFromBytes, parseWithSource, treeCandidates } from './json/candidates.ts';
import { pushSample } from './json/push-text.ts';
import { alternate, type Candidate, type Pace } from './measure/alternate.ts';
import { printJson, printTable } from './measure/report.ts';

const YARDSTICK = 'JSON.parse';
const quick = process.argv.includes('--quick');
const pace: Pace = { rounds: quick ? 12 : 60, repeats: quick ? 5 : 20 };

const medians = measurePush();
measureRecords();
printJson(
  'json-reader',
  medians,
  (medians.get(YARDSTICK) as number) / (medians.get('decodePush (bytes to ops)') as number),
);

/** A 500-op push: our decoder reads bytes and yields ops, every other candidate reads the decoded text and yields a tree. */
function measurePush(): Map<string, number> {
  const { text, sites } = pushSample(500);
  const bytes = Buffer.from(text);
  verifyPush(text, sites);
  const candidates: Candidate[] = [
    ...treeCandidates([text]),
    { name: 'readJson (text to tree)', run: () => readJson(text) },
    { name: 'decodePush (bytes to ops)', run: () => decodePush(bytes) },
    { name: 'bytes: cutting strings alone', run: () => cutStringsFromBytes(bytes) },
  ];
  const medians = alternate(candidates, pace);
  printTable(`push of 500 ops, ${bytes.length} bytes (goal: decodePush at least 0.25 x)`, medians, YARDSTICK);
  return medians;
}

/** Every lossless reader must give back every site; JSON.parse shows what is lost otherwise. */
function verifyPush(text: string, sites: readonly string[]): void {
  const lossless = parseLossless(text) as { ops: { site: { value: string } }[] };
  const withSource = parseWithSource(text) as { ops: { site: { value: string } }[] };
  assert.deepEqual(
    decodePush(Buffer.from(text)).map((op) => String(op.site)),
    sites,
  );
  assert.deepEqual(
    membersOf(readJson(text)).map((op) => (op.get('site') as JsonNumber).text),
    sites,
  );
  assert.deepEqual(
    lossless.ops.map((op) => op.site.value),
    sites,
  );
  assert.deepEqual(
    withSource.ops.map((op) => op.site.value),
    sites,
  );
  const rounded = (JSON.parse(text) as { ops: { site: number }[] }).ops.map((op) => String(BigInt(op.site)));
  console.log(`JSON.parse changes ${rounded.filter((site, i) => site !== sites[i]).length} of ${sites.length} sites`);
}

function membersOf(push: JsonValue): ReadonlyMap<string, JsonValue>[] {
  const ops = (push as JsonObject).members.get('ops') as JsonObject[];
  return ops.map((op) => op.members);
}

/** Real webhook records, one text each. */
function measureRecords(): void {
  const file = sharedData('github-webhooks.ndjson');
  if (file === null) return;
  const lines = decodeUtf8(readFileSync(file))
    .split('\n')
    .filter((line) => line !== '');
  for (const line of lines) assert.deepEqual(plain(readJson(line)), JSON.parse(line));
  for (const line of lines) assert.equal(jsonEnd(line), line.length);
  const candidates: Candidate[] = [
    ...treeCandidates(lines),
    { name: 'readJson (text to tree)', run: () => lines.map((line) => readJson(line)) },
    { name: 'jsonEnd (judged, no tree)', run: () => lines.map((line) => jsonEnd(line)) },
  ];
  const records = alternate(candidates, { rounds: Math.ceil(pace.rounds / 2), repeats: Math.ceil(pace.repeats / 10) });
  printTable(`${lines.length} webhook records`, records, YARDSTICK);
}

/** What JSON.parse makes of the same document. */
function plain(value: JsonValue): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof JsonNumber) return Number(value.text);
  if (value instanceof JsonObject) return Object.fromEntries([...value.members].map(([key, of]) => [key, plain(of)]));
  return value;
}
