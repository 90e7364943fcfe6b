import { createReadStream } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem, progressBar, say } from './terminal.mjs';

const BATCH_RECORDS_MAX = 256;
const BATCH_BYTES_MAX = 4 * 1024 * 1024;
const TRIES_MAX = 20;
const WAIT_SECS = 10;
const FAILURES_SHOWN = 5;
const DOCUMENT_CHARS_SHOWN = 800;
const TABLE = 'events';

/**
 * The demo's records as lines of bytes, checked before anything starts.
 * @param {string | null} file null: a generated sample
 */
export async function openDemo(file) {
  if (file === null) return { bytes: sampleBytes(), name: 'a generated sample' };
  try {
    await access(file, constants.R_OK);
    if (!(await stat(file)).isFile()) throw new Error('not a file');
  } catch (error) {
    throw new Problem(`--demo: cannot read ${file}: ${error.message}`);
  }
  return { bytes: createReadStream(file), name: file, size: (await stat(file)).size };
}

/** A thousand small orders, the same every time, so that a second demo finds only duplicates. */
export function* sampleBytes() {
  for (let n = 1; n <= 1000; n++) {
    const record = {
      event_id: `order-${n}`,
      kind: 'order_placed',
      total_cents: (n * 7919) % 100_000,
      customer: `c-${n % 97}`,
    };
    yield Buffer.from(`${JSON.stringify(record)}\n`);
  }
}

/** Posts every record, waits until all of it is folded, and says what happened. */
export async function playDemo(records, urls) {
  const foldedBefore = await foldedOps(urls);
  const startedMs = performance.now();
  const counts = await postAll(records, urls.ingest);
  const streams = await caughtUp(urls);
  const seconds = (performance.now() - startedMs) / 1000;
  const folded = streams.reduce((sum, { head }) => sum + head, 0n) - foldedBefore;
  const total = counts.accepted + counts.duplicates + counts.failed;
  say('');
  say(`accepted    ${counts.accepted}`);
  say(`duplicates  ${counts.duplicates}`);
  say(`failed      ${counts.failed}`);
  say(`folded      ${folded}`);
  say(`seconds     ${seconds.toFixed(2)}`);
  say(`records/s   ${Math.round(total / seconds)}`);
  for (const { line, error } of counts.failures) say(`  record ${line}: ${error}`);
  if (counts.failed > counts.failures.length) say(`  ... and ${counts.failed - counts.failures.length} more`);
  await showDocument(urls.fold, streams);
}

/** Lines of a byte stream in batches for one request each; a line longer than a batch goes alone. */
async function* batches(bytes, onBytes) {
  let lines = [];
  let size = 0;
  for await (const line of splitLines(bytes, onBytes)) {
    if (lines.length === BATCH_RECORDS_MAX || (lines.length > 0 && size + line.length > BATCH_BYTES_MAX)) {
      yield lines;
      lines = [];
      size = 0;
    }
    lines.push(line);
    size += line.length + 1;
  }
  if (lines.length > 0) yield lines;
}

async function* splitLines(bytes, onBytes) {
  let parts = [];
  for await (const chunk of bytes) {
    onBytes(chunk.length);
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      parts.push(chunk.subarray(from, at));
      yield Buffer.concat(parts);
      parts = [];
      from = at + 1;
    }
    if (from < chunk.length) parts.push(chunk.subarray(from));
  }
  if (parts.length > 0) yield Buffer.concat(parts);
}

async function postAll({ bytes, name, size }, ingest) {
  const counts = { accepted: 0, duplicates: 0, failed: 0, failures: [] };
  const total = size ?? [...sampleBytes()].reduce((sum, line) => sum + line.length, 0);
  say(`posting ${name}`);
  const bar = progressBar('bytes', total);
  let read = 0;
  let line = 0;
  for await (const batch of batches(bytes, (n) => (read += n))) {
    const records = batch.filter((record) => !blank(record));
    if (records.length > 0) await postBatch(ingest, records, line, counts);
    line += records.length;
    bar.at(read);
  }
  bar.end();
  return counts;
}

const blank = (line) => line.every((byte) => byte === 32 || byte === 9 || byte === 13);

async function postBatch(ingest, records, before, counts) {
  const { status, body } = await post(
    `${ingest}/v1/ingest?table=${TABLE}`,
    Buffer.concat(records.flatMap((record) => [record, LF])),
  );
  if (status === 200) {
    counts.accepted += body.succeeded;
    counts.duplicates += body.duplicates;
    counts.failed += body.failed;
    for (const result of body.results)
      if (result.error !== undefined) note(counts, before + result.index, result.error);
    return;
  }
  if (status >= 500) throw new Problem(`ingest answered ${status}: ${body.error}`);
  counts.failed += records.length;
  note(counts, before + 1, `${status}: ${body.error}`);
}

const LF = Buffer.from('\n');

function note(counts, line, error) {
  if (counts.failures.length < FAILURES_SHOWN) counts.failures.push({ line, error });
}

/** One request; a 503 is tried again after the time that it asks for. */
async function post(url, body) {
  for (let attempt = 1; ; attempt++) {
    const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/x-ndjson' }, body });
    const text = await answer.text();
    if (answer.status !== 503 || attempt === TRIES_MAX) return { status: answer.status, body: JSON.parse(text) };
    const seconds = Number(answer.headers.get('retry-after') ?? '1');
    say(`ingest asks to come back in ${seconds} s: ${JSON.parse(text).error}`);
    await sleep(seconds * 1000);
  }
}

/** Waits until no event is left for the intake and every stream's mark is its head. Resolves to the streams. */
async function caughtUp({ relay, fold }) {
  for (;;) {
    const { pending } = await get(`${relay}/v1/intake?wait=${WAIT_SECS}`);
    if (pending === 0) break;
    say(`${pending} events wait for the relay`);
  }
  const streams = await allStreams(relay);
  for (const { stream, head } of streams) {
    for (;;) {
      const mark = await get(
        `${fold}/v1/streams/${encodeURIComponent(stream)}/watermark?min_seq=${head}&wait=${WAIT_SECS}`,
        [200, 504],
      );
      if (BigInt(mark.folded_through) >= head) break;
      say(`${stream}: folded ${mark.folded_through} of ${head}`);
    }
  }
  return streams;
}

async function allStreams(relay) {
  const streams = [];
  for (let after = null; ;) {
    const page = await get(
      `${relay}/v1/streams?limit=1000${after === null ? '' : `&after=${encodeURIComponent(after)}`}`,
    );
    streams.push(...page.streams.map(({ stream, head }) => ({ stream, head: BigInt(head) })));
    if (page.next === null) return streams;
    after = page.next;
  }
}

async function foldedOps({ relay, fold }) {
  let sum = 0n;
  for (const { stream } of await allStreams(relay)) {
    const mark = await get(`${fold}/v1/streams/${encodeURIComponent(stream)}/watermark`);
    sum += BigInt(mark.folded_through);
  }
  return sum;
}

async function showDocument(fold, streams) {
  for (const { stream } of streams.filter(({ stream }) => stream.endsWith(`.${TABLE}`))) {
    const documents = `${fold}/v1/streams/${encodeURIComponent(stream)}/documents/${TABLE}`;
    // As it came: a number of 64 bits would lose digits on its way through JSON.parse.
    const page = await getText(`${documents}?limit=1`);
    if (JSON.parse(page).documents.length === 0) continue;
    const text = page.slice('{"documents":['.length, page.lastIndexOf('],"next":'));
    say(`\none folded document of ${stream}:`);
    say(
      text.length <= DOCUMENT_CHARS_SHOWN
        ? text
        : `${text.slice(0, DOCUMENT_CHARS_SHOWN)}... (${text.length} characters)`,
    );
    return;
  }
}

async function get(url, fine) {
  return JSON.parse(await getText(url, fine));
}

async function getText(url, fine = [200]) {
  const answer = await fetch(url);
  const text = await answer.text();
  if (!fine.includes(answer.status)) throw new Problem(`${url} answered ${answer.status}: ${text}`);
  return text;
}
