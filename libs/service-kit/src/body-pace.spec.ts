import 'reflect-metadata';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { ManualTime } from '@tidemark/libs-kernel/testing';
import { BodyPace } from './body-pace.ts';
import { closeHttp } from './close-http.ts';
import { HTTP_BOUNDS, type HttpBounds } from './http-bounds.ts';
import { type SpecClient, SpecServer } from './spec-server.ts';

const MIB = 1024 * 1024;
const HELD = 'tidemark_http_held_bytes{kind="bodies"';
const SLOW = 'tidemark_http_refused_total{bound="pace"';
const NEVER_MS = 600_000;

let server: SpecServer | undefined;
let time: ManualTime;
/** What the clients have sent. */
let sentBytes: number;
beforeEach(() => ([time, sentBytes] = [new ManualTime(), 0]));
afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function start(bounds: Partial<HttpBounds> = {}): Promise<SpecServer> {
  const all = { lingerMsMax: NEVER_MS, ...bounds };
  return (server = await SpecServer.start({ bodyBytesMax: 8 * MIB, compressedBodies: true, bounds: all }, time));
}

/** Sent, and read by the server. */
async function give(client: SpecClient, text: string | Uint8Array): Promise<void> {
  client.write(text);
  await server!.received((sentBytes += Buffer.byteLength(text)));
}

/** Seconds go by, and whoever looks once a second has looked. */
async function pass(seconds: number): Promise<void> {
  for (let i = 0; i < seconds; i++) {
    while (time.sleepers === 0) await new Promise(setImmediate);
    time.advance(1000);
    await new Promise(setImmediate);
  }
}

const head = (headers: string) => `POST /things/a HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n`;
const sized = (bytes: number) => head(`Content-Length: ${bytes}`);
const chunk = (bytes: number) => `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`;

async function open(text: string | Uint8Array): Promise<SpecClient> {
  const client = server!.connect();
  await give(client, text);
  return client;
}

async function expectSlow(client: SpecClient): Promise<void> {
  const answer = await client.until(/\r\n\r\n\{"error".+\}$/);
  expect(answer).toMatch(/^(HTTP\/1\.1 100 Continue\r\n\r\n)?HTTP\/1\.1 408 /);
  expect(answer).toMatch(/^tidemark-outcome: not-done\r$/m);
  expect(answer).toMatch(/^connection: close\r$/m);
  expect(answer).toMatch(/^retry-after: 1\r$/m);
  expect(answer).toContain('{"error":"the body came too slowly: at least ');
}

// kills: http.ts: load.dropBody(request) => void 0
// kills: body-pace.ts: leftMs: bodyGraceMs, => leftMs: 0,
test('OPS-4: 32 clients that announce 8 MiB and send next to nothing give their place back after the grace, told 408', async () => {
  const { port } = await start();
  const clients = await Promise.all(Array.from({ length: 32 }, () => open(`${sized(8 * MIB)}x`)));
  while ((await server!.metric(HELD)) < 256 * MIB) await new Promise(setImmediate);
  const push = () => fetch(`http://127.0.0.1:${port}/things/a`, { method: 'POST', body: 'x'.repeat(1000) });
  expect((await push()).status).toBe(503);
  for (let seconds = 0; seconds < 5; seconds++) {
    await pass(2);
    for (const client of clients) await give(client, 'x');
  }
  expect((await push()).status).toBe(503);
  await pass(1);
  for (const client of clients) await expectSlow(client);
  expect(await server!.metric(HELD)).toBe(0);
  expect(await server!.metric(SLOW)).toBe(32);
  expect((await push()).status).toBe(200);
});

const bytes = (text: string | Uint8Array) => Buffer.from(text);
const chunkOf = (piece: Uint8Array) => Buffer.concat([bytes(`${piece.length.toString(16)}\r\n`), piece, bytes('\r\n')]);
const zeros = gzipSync(Buffer.alloc(MIB));
const half = zeros.subarray(0, zeros.length / 2);

// kills: counted-bodies.ts: thrown instanceof Fault && pieces.destroy(thrown) => thrown
// kills: compressed-bodies.ts: thrown instanceof Fault && decoder.destroy(thrown) => thrown
// kills: http.ts: fault instanceof SlowBody ? => fault.code === 'internal' ?
test.each<[string, string, Uint8Array]>([
  ['has not begun', sized(9), bytes('')],
  ['lacks its last byte', sized(9), bytes('x'.repeat(8))],
  ['was asked for', head('Expect: 100-continue\r\nContent-Length: 9'), bytes('')],
  ['comes in chunks', head('Transfer-Encoding: chunked'), bytes(chunk(9))],
  ['lacks the end of its chunks', head('Transfer-Encoding: chunked'), bytes(`${chunk(9)}0\r\n\r`)],
  ['is compressed', head(`Content-Length: ${zeros.length}\r\nContent-Encoding: gzip`), half],
  ['is compressed in chunks', head('Transfer-Encoding: chunked\r\nContent-Encoding: gzip'), chunkOf(half)],
])('OPS-4: a body that %s and stalls is told 408, and its connection closes', async (_what, begin, body) => {
  await start({ lingerMsMax: 1 });
  const client = await open(begin);
  await give(client, body);
  await pass(11);
  await expectSlow(client);
  expect(await client.all()).not.toContain('RESET');
  expect([await server!.metric(HELD), await server!.metric(SLOW)]).toEqual([0, 1]);
});

// kills: body-pace.ts: Math.min(leftMs + earnedMs, this.#bounds.bodyStallMsMax) => leftMs + earnedMs
test('OPS-4: what came fast may stall for what it has saved, but not for longer than half a minute', async () => {
  await start();
  const phone = await open(sized(100_000));
  await give(phone, 'x'.repeat(10_000));
  await pass(19);
  await give(phone, 'x'.repeat(89_999));
  await pass(30);
  await give(phone, 'x');
  await phone.until(/^HTTP\/1\.1 200 [^]*\r\n\r\n100000$/);
  const almost = await open(sized(100_000));
  await give(almost, 'x'.repeat(99_999));
  await pass(31);
  await expectSlow(almost);
});

// kills: body-pace.ts: Math.max(bodyBytesPerSecMin, (lengthBytes / requestMsMax) * 1000) => bodyBytesPerSecMin
test('OPS-4: a body of a told length must come fast enough to be there before its request is too late', async () => {
  await start();
  const large = await open(sized(8 * MIB));
  const small = await open(sized(100_000));
  const chunks = await open(head('Transfer-Encoding: chunked'));
  for (let seconds = 0; seconds < 12; seconds++) {
    for (const client of [large, small]) await give(client, 'x'.repeat(2000));
    await give(chunks, chunk(2000));
    await pass(1);
  }
  await expectSlow(large);
  await give(small, 'x'.repeat(76_000));
  await small.until(/\r\n\r\n100000$/);
  await give(chunks, '0\r\n\r\n');
  await chunks.until(/\r\n\r\n24000$/);
});

test('OPS-4: a slow body behind a request that is worked on gives its place back at once, and is answered after it', async () => {
  await start({ lingerMsMax: 1 });
  const client = await open('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n' + sized(5000));
  await server!.waiting(1);
  await give(client, 'x');
  await pass(11);
  expect([await server!.metric(HELD), await server!.metric(SLOW)]).toEqual([0, 1]);
  server!.finish();
  expect((await client.all()).match(/^HTTP\/1\.1 \d+|HTTP\/1\.1 4\d+/gm)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 408']);
});

test('OPS-4: behind a 408 nothing more is answered on its connection', async () => {
  await start();
  const client = await open(sized(9));
  await pass(11);
  await expectSlow(client);
  client.write(`${'x'.repeat(9)}GET /things/a HTTP/1.1\r\nHost: x\r\n\r\n`);
  expect((await client.all()).match(/HTTP\/1\.1 /g)).toHaveLength(1);
});

test('OPS-3: a shutdown waits for a slow body until its grace has ended', async () => {
  await start({ lingerMsMax: 1 });
  const client = await open(`${sized(9)}x`);
  const closed = closeHttp(server!.app, { keptMs: 0 });
  await pass(11);
  await expectSlow(client);
  await closed;
});

test('OPS-4: a body that is there with its head is not looked after, nor one that was cut, nor any where the pace is 0', async () => {
  await start();
  await (await open(`${sized(3)}abc`)).until(/\r\n\r\n3$/);
  expect(time.sleepers).toBe(0);
  const cut = await open(`${sized(3)}a`);
  await pass(1);
  cut.cut();
  while (server!.requests > 0) await new Promise(setImmediate);
  await pass(1);
  expect(time.sleepers).toBe(0);
  await server!.close();
  sentBytes = 0;
  await start({ bodyBytesPerSecMin: 0 });
  const client = await open(`${sized(3)}a`);
  while ((await server!.metric(HELD)) < 3) await new Promise(setImmediate);
  expect(time.sleepers).toBe(0);
  await give(client, 'bc');
  await client.until(/\r\n\r\n3$/);
});

describe('what the sender is not blamed for', () => {
  let raw: IncomingMessage;
  let refused: jest.Mock;
  beforeEach(() => {
    [raw, refused] = [new IncomingMessage(new Socket()), jest.fn()];
    raw.on('error', refused);
    new BodyPace(HTTP_BOUNDS, time, time).watch(raw, 100, () => {});
  });

  // kills: body-pace.ts: raw.readableLength > 0 || elapsedMs >= LATE_MS => elapsedMs >= LATE_MS
  test('OPS-4: time in which its bytes lie here and are not taken', async () => {
    raw.push('x');
    await pass(100);
    expect(refused).not.toHaveBeenCalled();
    raw.read();
    await pass(10);
    expect(refused).not.toHaveBeenCalled();
    await pass(1);
    expect(refused).toHaveBeenCalledTimes(1);
  });

  // kills: body-pace.ts: raw.readableLength > 0 || elapsedMs >= LATE_MS => raw.readableLength > 0
  test('OPS-4: time in which this process did not run', async () => {
    time.advance(3_600_000);
    await pass(10);
    expect(refused).not.toHaveBeenCalled();
    await pass(1);
    expect(refused).toHaveBeenCalledTimes(1);
  });

  // kills: body-pace.ts: elapsedMs >= LATE_MS ? 0 : elapsedMs => false ? 0 : Math.min(elapsedMs, LATE_MS)
  test('OPS-4: bytes that came while this process did not run, and are not read yet', async () => {
    await pass(10);
    time.advance(60_000);
    await new Promise(setImmediate);
    expect(refused).not.toHaveBeenCalled();
    Object.defineProperty(raw.socket, 'bytesRead', { value: 5 * 1024 });
    await pass(5);
    expect(refused).not.toHaveBeenCalled();
    await pass(1);
    expect(refused).toHaveBeenCalledTimes(1);
  });

  // kills: body-pace.ts: if (raw.listenerCount('error') === 0) return; => void 0;
  test('OPS-4: a body that nobody reads is nobody who is told', async () => {
    raw.off('error', refused);
    await pass(11);
    expect(refused).not.toHaveBeenCalled();
  });
});
