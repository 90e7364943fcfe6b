import * as zlib from 'node:zlib';
import { BODY_CODINGS } from './compressed-bodies.ts';
import { SpecServer } from './spec-server.ts';

const COMPRESS: Record<string, (text: string | Uint8Array) => Buffer> = {
  gzip: (text) => zlib.gzipSync(text),
  br: (text) => zlib.brotliCompressSync(text, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 5 } }),
  zstd: (text) => zlib.zstdCompressSync(text),
};
const codings = BODY_CODINGS.map((coding) => [coding, COMPRESS[coding]!] as const);
const LIMIT = 1000;
const MIB = 1024 * 1024;

let server: SpecServer;
const start = async (bodyBytesMax = LIMIT, more: object = {}) =>
  (server = await SpecServer.start({ bodyBytesMax, compressedBodies: true, ...more }));
afterEach(() => server?.close());

async function post(body: Uint8Array, coding: string, path = '/things/a') {
  const headers = { 'content-encoding': coding, 'content-type': 'application/json' };
  const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method: 'POST',
    headers,
    body: Uint8Array.from(body),
  });
  return { status: answer.status, text: await answer.text(), headers: answer.headers };
}
const held = () => server.metric('tidemark_http_held_bytes{kind="bodies"');
/** What is held once every request has ended, the rest of refused bodies included. */
async function heldAfterwards(): Promise<number> {
  while (server.requests > 0) await new Promise(setImmediate);
  return held();
}

test('ING-10: the codings are gzip, br and zstd', () => {
  expect(BODY_CODINGS).toEqual(['gzip', 'br', 'zstd']);
});

test.each(codings)(
  'ING-10: a body in %s counts by what it holds, up to the limit and not a byte more',
  async (coding, compress) => {
    await start();
    for (const bytes of [0, 1, LIMIT])
      expect(await post(compress('x'.repeat(bytes)), coding)).toMatchObject({ status: 200, text: `${bytes}` });
    const refused = await post(compress('x'.repeat(LIMIT + 1)), coding.toUpperCase());
    expect([refused.status, refused.text]).toEqual([413, '{"error":"request body exceeded 1000 bytes"}']);
    expect(await heldAfterwards()).toBe(0);
  },
);

test.each(codings)(
  'ING-10, J17: a body in %s that is cut at any byte, or changed, is 400',
  async (coding, compress) => {
    await start();
    const whole = compress('{"event_id":"abcdefgh","n":1234567890}');
    for (let end = 1; end < whole.length; end++)
      expect([end, (await post(whole.subarray(0, end), coding)).status]).toEqual([end, 400]);
    const { status, text, headers } = await post(Buffer.from('{"event_id":"a"}'), coding);
    expect([status, text]).toEqual([400, `{"error":"invalid request body: not ${coding}, or cut short"}`]);
    expect(headers.get('tidemark-outcome')).toBe('not-done');
    expect(await heldAfterwards()).toBe(0);
  },
);

// kills: compressed-bodies.ts: if (!wasAll()) throw corrupt(coding); => wasAll();
test.each(codings)(
  'ING-10, J16: nothing that follows a body in %s is passed over in silence',
  async (coding, compress) => {
    await start();
    const one = compress('abc');
    expect((await post(Buffer.concat([one, Buffer.from('{"more":1}')]), coding)).status).toBe(400);
    const twice = await post(Buffer.concat([one, one]), coding);
    // A second member of gzip and a second frame of zstd belong to the body; brotli has none.
    expect([twice.status, twice.status === 200 ? twice.text : '']).toEqual(coding === 'br' ? [400, ''] : [200, '6']);
  },
);

test.each(codings)(
  'ING-10: a body in %s may come in pieces of a byte, with its length or in chunks',
  async (coding, compress) => {
    await start();
    const body = compress('{"event_id":"a"}');
    const head = `POST /things/a HTTP/1.1\r\nHost: x\r\nContent-Encoding: ${coding}\r\nConnection: close\r\n`;
    const lengthed = server.connect();
    lengthed.write(`${head}Content-Length: ${body.length}\r\n\r\n`);
    for (const byte of body) lengthed.write(Uint8Array.of(byte));
    expect(await lengthed.all()).toMatch(/^HTTP\/1\.1 200 OK.*16$/s);
    const chunked = server.connect();
    chunked.write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
    for (const byte of body)
      chunked.write(Buffer.concat([Buffer.from('1\r\n'), Uint8Array.of(byte), Buffer.from('\r\n')]));
    chunked.write('0\r\n\r\n');
    expect(await chunked.all()).toMatch(/^HTTP\/1\.1 200 OK.*16$/s);
  },
);

test.each(codings)('ING-10, OPS-4: of a bomb in %s no more is inflated than the limit', async (coding, compress) => {
  await start(MIB);
  const bomb = compress(new Uint8Array(64 * MIB));
  expect(bomb.length).toBeLessThan(MIB);
  const before = process.memoryUsage();
  const answers = await Promise.all(Array.from({ length: 4 }, () => post(bomb, coding)));
  const after = process.memoryUsage();
  expect(answers.map(({ status }) => status)).toEqual([413, 413, 413, 413]);
  const grown = after.external + after.heapUsed - before.external - before.heapUsed;
  expect(grown).toBeLessThan(64 * MIB);
  expect(await heldAfterwards()).toBe(0);
});

test.each(codings)(
  'OPS-4: a body in %s that would not fit among those that are held is 503',
  async (coding, compress) => {
    await start(LIMIT, { bounds: { bodiesBytesMax: LIMIT } });
    const first = post(compress('x'.repeat(800)), coding, '/slow');
    await server.waiting(1);
    expect(await held()).toBeGreaterThanOrEqual(800);
    const { status, headers } = await post(compress('x'.repeat(800)), coding, '/slow');
    expect([status, headers.get('retry-after'), headers.get('tidemark-outcome')]).toEqual([503, '1', 'not-done']);
    server.finish();
    expect(await first).toMatchObject({ status: 200, text: '800' });
    expect(await heldAfterwards()).toBe(0);
  },
);

test('ING-10: a zstd body that asks for more memory than HTTP allows is refused', async () => {
  await start();
  const params = { [zlib.constants.ZSTD_c_windowLog]: 27, [zlib.constants.ZSTD_c_contentSizeFlag]: 0 };
  const stream = zlib.createZstdCompress({ params });
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  const ended = new Promise((resolve) => stream.once('end', resolve));
  stream.write('abc');
  stream.flush(() => stream.end('def'));
  await ended;
  expect((await post(Buffer.concat(chunks), 'zstd')).status).toBe(400);
});

test('ING-10: a sender that goes away in the middle frees what its body held', async () => {
  await start();
  const body = zlib.gzipSync(Buffer.from(Array.from({ length: 900 }, (_, i) => (i * 7919) % 251)));
  const client = server.connect();
  client.write(
    `POST /things/a HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  client.write(body.subarray(0, body.length - 20));
  while ((await held()) === 0) await new Promise(setImmediate);
  client.cut();
  expect(await heldAfterwards()).toBe(0);
});

test.each(['deflate', 'gzip, br', 'gzip,gzip', 'compress', 'GZIP;q=1', ''])(
  'ING-10: the coding %j is 415, and told what is taken',
  async (coding) => {
    await start();
    const answer = await server.talk(
      `POST /things/a HTTP/1.1\r\nHost: x\r\nContent-Encoding: ${coding}\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 415 /);
    expect(answer).toMatch(/accept-encoding: gzip, br, zstd, identity/i);
  },
);

test('ING-10: a header that is sent twice is two codings, and identity is none', async () => {
  await start();
  const talk = (headers: string) =>
    server.talk(`POST /things/a HTTP/1.1\r\nHost: x\r\n${headers}Content-Length: 3\r\nConnection: close\r\n\r\nabc`);
  expect(await talk('Content-Encoding: gzip\r\nContent-Encoding: gzip\r\n')).toMatch(/^HTTP\/1\.1 415 /);
  expect(await talk('Content-Encoding: Identity\r\n')).toMatch(/^HTTP\/1\.1 200 /);
});

test('ING-10: x-gzip is gzip', async () => {
  await start();
  expect(await post(zlib.gzipSync('abc'), 'x-gzip')).toMatchObject({ status: 200, text: '3' });
});
