import { connect } from 'node:net';
import * as zlib from 'node:zlib';
import { INGEST_BODY_BYTES_MAX } from '@tidemark/libs-kernel';
import { loadOf } from '@tidemark/libs-service-kit';
import { startIngest } from './spec-ingest.ts';

let ingest: Awaited<ReturnType<typeof startIngest>>;

beforeEach(async () => {
  ingest = await startIngest();
});
afterEach(() => ingest.close());

/** What comes back to these bytes until the connection closes. `bytes` false: the sender goes away instead of waiting. */
function talk(parts: readonly (string | Uint8Array)[], cut = false): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port: Number(new URL(ingest.url).port), host: '127.0.0.1' });
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString('latin1')));
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
    for (const part of parts) socket.write(part);
    if (cut) socket.end(() => socket.destroy());
  });
}
const head = (headers: readonly string[], path = '/v1/ingest?table=events') =>
  `POST ${path} HTTP/1.1\r\n${['Host: x', 'Connection: close', ...headers].join('\r\n')}\r\n\r\n`;
const JSON_TYPE = 'Content-Type: application/json';
const requests = () => loadOf(ingest.app).traffic.requests;
async function nothingIsOpen(): Promise<void> {
  while (requests() > 0) await new Promise(setImmediate);
}

test.each([
  ['a tenant sent twice', ['X-Tenant-ID: 0', 'X-Tenant-ID: 0', JSON_TYPE], 400],
  ['a tenant sent twice, once empty', ['X-Tenant-ID:', 'X-Tenant-ID: 0', JSON_TYPE], 400],
  ['two tenants in one header', ['X-Tenant-ID: 0, acme', JSON_TYPE], 400],
  ['another tenant', ['x-tenant-id: acme', JSON_TYPE], 404],
  ['content types that disagree', [JSON_TYPE, 'Content-Type: application/x-ndjson'], 415],
  ['a content type with a second one behind a comma', ['Content-Type: application/json, application/x-ndjson'], 415],
  ['a content type with a tab and a suffix', ['Content-Type: application/json\tx'], 415],
  ['no content type', [], 415],
  ['an empty content type', ['Content-Type:'], 415],
  ['a coding that is not taken', [JSON_TYPE, 'Content-Encoding: deflate'], 415],
  ['a coding sent twice', [JSON_TYPE, 'Content-Encoding: gzip', 'Content-Encoding: gzip'], 415],
  ['two lengths', [JSON_TYPE, 'Content-Length: 2'], 400],
])('ING-1, ING-9, H7: %s is refused, and nothing is stored', async (_what, headers, status) => {
  const answer = await talk([head([...headers, 'Content-Length: 16']), '{"event_id":"a"}']);
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(answer).toMatch(/tidemark-outcome: not-done/i);
  expect(await ingest.stored()).toBe(0n);
});

test.each([
  ['content types that agree', [JSON_TYPE, 'content-type: Application/JSON ; charset=utf-8']],
  ['a type with blanks and a parameter', ['Content-Type: \t application/json\t;x=1']],
  ['an empty tenant', [JSON_TYPE, 'X-Tenant-ID:']],
])('ING-1, ING-9: %s is taken', async (_what, headers) => {
  expect(await talk([head([...headers, 'Content-Length: 16']), '{"event_id":"a"}'])).toMatch(/^HTTP\/1.1 200 /);
});

test.each(['%', '%zz', 'events%', '%ff', '%C3'])(
  'J19: a table that is no percent-encoded text is 400: %s',
  async (table) => {
    const answer = await talk([head([JSON_TYPE, 'Content-Length: 2'], `/v1/ingest?table=${table}`), '{}']);
    expect(answer).toMatch(/^HTTP\/1.1 (400|404) /);
    expect(answer).toMatch(/tidemark-outcome: not-done/i);
  },
);

test('H11, ING-4: a body that is cut after hundreds of records stores none of them, in every coding', async () => {
  const body = Array.from({ length: 600 }, (_, i) => `{"event_id":${i}}\n`).join('');
  const type = 'Content-Type: application/x-ndjson';
  for (const [coding, bytes] of [
    ['identity', Buffer.from(body)],
    ['gzip', zlib.gzipSync(body)],
    ['br', zlib.brotliCompressSync(body)],
    ['zstd', zlib.zstdCompressSync(body)],
  ] as const) {
    const sent = bytes.subarray(0, Math.floor(bytes.length / 2));
    await talk([head([type, `Content-Encoding: ${coding}`, `Content-Length: ${bytes.length}`]), sent], true);
    await nothingIsOpen();
    expect([coding, await ingest.stored()]).toEqual([coding, 0n]);
  }
});

test('ING-10: a compressed batch is read like one that is not', async () => {
  const body = '{"event_id":"a"}\r\n\r\n\n{"event_id":"b"}';
  const type = { 'content-type': 'application/x-ndjson' };
  for (const [coding, bytes] of [
    ['gzip', zlib.gzipSync(body)],
    ['br', zlib.brotliCompressSync(body)],
    ['zstd', zlib.zstdCompressSync(body)],
  ] as const) {
    const answer = await ingest.post(Uint8Array.from(bytes), { ...type, 'content-encoding': coding });
    expect([coding, answer.status, await answer.json()]).toMatchObject([coding, 200, { total: 2, failed: 0 }]);
  }
  expect(await ingest.stored()).toBe(2n);
});

test('ING-10: a body of 16 MiB passes compressed, a byte more is 413 in the words of any body', async () => {
  const body = (bytes: number) => Uint8Array.from(zlib.gzipSync(`{"event_id":"big"}${' '.repeat(bytes - 18)}`));
  const coded = { 'content-encoding': 'gzip' };
  expect((await ingest.post(body(INGEST_BODY_BYTES_MAX), coded)).status).toBe(200);
  const refused = await ingest.post(body(INGEST_BODY_BYTES_MAX + 1), coded);
  expect([refused.status, await refused.json()]).toEqual([
    413,
    { error: `request body exceeded ${INGEST_BODY_BYTES_MAX} bytes` },
  ]);
});

test('H10, I10: a sender that goes away in the middle of its body leaves nothing open', async () => {
  for (let i = 0; i < 50; i++) await talk([head([JSON_TYPE, 'Content-Length: 100']), '{"event_id":'], true);
  await nothingIsOpen();
  expect(await ingest.stored()).toBe(0n);
});

test('a body that comes a byte at a time is taken like any other', async () => {
  const body = '[{"event_id":"a"},{"event_id":"é"}]';
  const bytes = Buffer.from(body);
  const pieces = Array.from(bytes, (byte) => Uint8Array.of(byte));
  expect(await talk([head([JSON_TYPE, `Content-Length: ${bytes.length}`]), ...pieces])).toMatch(/"succeeded":2/);
});

test('ING-1: a length that is not kept is refused: too short a body waits, too long a one is another request', async () => {
  const answer = await talk([head([JSON_TYPE, 'Content-Length: 16']), '{"event_id":"a"}GARBAGE']);
  expect(answer.match(/HTTP\/1.1 /g)!.length).toBeLessThanOrEqual(2);
  expect(answer).toMatch(/^HTTP\/1.1 200 /);
  expect(await ingest.stored()).toBe(1n);
});
