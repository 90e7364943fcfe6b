import 'reflect-metadata';
import { Agent, type IncomingMessage, get } from 'node:http';
import { connect } from 'node:net';
import { Controller, type DynamicModule, Get, Module, Param, Post, Req, Res } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Fault } from '@tidemark/libs-kernel';
import { json, send } from './answer.ts';
import { bodyOf } from './bodies.ts';
import { closeHttp } from './close-http.ts';
import { createHttp } from './http.ts';
import { createLog } from './log.ts';
import { Metrics } from './metrics.ts';
import { once } from './query.ts';
import { systemClock } from './system.ts';

@Controller('things')
class ThingsController {
  @Get(':id')
  get(@Param('id') id: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply) {
    once(request.query as Record<string, unknown>, 'limit');
    if (id === 'faulty') throw new Fault('unavailable', 'secret.example:5432 is busy', { retryAfterMs: 2500 });
    if (id === 'full') throw new Fault('disk_full', '/var/lib/secret.db cannot grow');
    if (id === 'broken') throw new Error('a secret path');
    return send(reply, json(JSON.stringify({ id })));
  }

  @Get('slow/answer')
  async slow(@Res() reply: FastifyReply) {
    arrived.resolve();
    await finish.promise;
    return send(reply, json('{}'));
  }

  @Post(':id')
  post(@Req() request: FastifyRequest, @Res() reply: FastifyReply) {
    return send(reply, json(JSON.stringify({ bytes: bodyOf(request).length })));
  }
}

@Module({ controllers: [ThingsController] })
class ThingsModule {}

let app: NestFastifyApplication;
let seen: string[];
let stop: AbortController;
let arrived: PromiseWithResolvers<void>;
let finish: PromiseWithResolvers<void>;

beforeEach(async () => {
  seen = [];
  stop = new AbortController();
  [arrived, finish] = [Promise.withResolvers(), Promise.withResolvers()];
  const module: DynamicModule = { module: ThingsModule };
  app = await createHttp(
    module,
    {
      bodyBytesMax: 100,
      headers: { vary: 'X-Tenant-ID' },
      admit: (request) => {
        seen.push(request.url);
        return request.headers['x-refuse'] === undefined ? undefined : { status: 415, body: '{"error":"no"}' };
      },
    },
    { log: createLog('test', 'silent'), metrics: new Metrics('test'), clock: systemClock, stopping: stop.signal },
  );
  await app.listen(0, '127.0.0.1');
});

afterEach(() => app.close());

const url = async (path: string) => `${await app.getUrl()}${path}`;

test('a body arrives as bytes, whatever its type, also without one', async () => {
  for (const type of ['application/json', 'text/x-anything', 'application/json ;charset=utf-8']) {
    const answer = await fetch(await url('/things/a'), {
      method: 'POST',
      body: '{"a":',
      headers: { 'content-type': type },
    });
    expect(await answer.json()).toEqual({ bytes: 5 });
  }
  const answer = await app.inject({ method: 'POST', url: '/things/a', payload: Buffer.from('abc'), headers: {} });
  expect(answer.json()).toEqual({ bytes: 3 });
});

test('a body of exactly the limit passes, one byte more is 413 and not done', async () => {
  const post = async (bytes: number) => fetch(await url('/things/a'), { method: 'POST', body: 'x'.repeat(bytes) });
  expect((await post(100)).status).toBe(200);
  const refused = await post(101);
  expect(refused.status).toBe(413);
  expect(refused.headers.get('tidemark-outcome')).toBe('not-done');
  expect(await refused.json()).toEqual({ error: 'request body exceeded 100 bytes' });
});

// kills: answer.ts: return TOLD[fault.code] ?? fault.message => return fault.message
test('OPS-6, SEC-1: every answer other than 2xx says what is known of the work, and names no place of the server', async () => {
  const faulty = await fetch(await url('/things/faulty'));
  expect(faulty.status).toBe(503);
  expect(faulty.headers.get('retry-after')).toBe('3');
  expect(faulty.headers.get('tidemark-outcome')).toBe('not-done');
  const full = await fetch(await url('/things/full'));
  expect(full.status).toBe(503);
  for (const answer of [faulty, full]) expect(await answer.text()).toMatch(/^\{"error":"(?!.*secret).*again later"\}$/);
  const broken = await fetch(await url('/things/broken'));
  expect(broken.status).toBe(500);
  expect(broken.headers.get('tidemark-outcome')).toBe('unknown');
  expect(await broken.text()).not.toContain('secret');
});

test('a body with a content encoding is 415, and told to come without', async () => {
  const send = async (encoding: string) =>
    fetch(await url('/things/a'), { method: 'POST', body: 'abc', headers: { 'content-encoding': encoding } });
  const refused = await send('gzip');
  expect([refused.status, refused.headers.get('accept-encoding')]).toEqual([415, 'identity']);
  expect(await refused.text()).toContain('gzip');
  expect((await send('identity')).status).toBe(200);
});

test('an unknown path is 404, a known path with another method 405 with Allow', async () => {
  const unknown = await fetch(await url('/nothing'));
  expect(unknown.status).toBe(404);
  expect(unknown.headers.get('tidemark-outcome')).toBe('not-done');
  const wrong = await fetch(await url('/things/a'), { method: 'DELETE' });
  expect(wrong.status).toBe(405);
  expect(wrong.headers.get('allow')).toBe('GET, HEAD, POST');
  expect((await fetch(await url('/things/a/'))).status).toBe(404);
  expect((await fetch(await url('/Things/a'))).status).toBe(404);
});

test('a percent-encoded slash stays inside its segment, and a long id is not cut', async () => {
  expect(await (await fetch(await url('/things/a%2Fb'))).json()).toEqual({ id: 'a/b' });
  const long = 'x'.repeat(4000);
  expect(await (await fetch(await url(`/things/${long}`))).json()).toEqual({ id: long });
});

test('malformed percent-encoding and a repeated parameter are 400, not 500', async () => {
  expect(await rawStatus('GET /things/%zz HTTP/1.1')).toBe(400);
  expect((await fetch(await url('/things/a?limit=1&limit=2'))).status).toBe(400);
});

test.each([
  [
    'a body cut short',
    'POST /things/a HTTP/1.1',
    'Transfer-Encoding: chunked\r\n\r\nzz',
    400,
    'not a complete HTTP request',
  ],
  ['an unknown method', 'BREW /things/a HTTP/1.1', 'X-Nothing: 1', 400, 'not a complete HTTP request'],
  [
    'a head that is too large',
    'GET /things/a HTTP/1.1',
    `X-Long: ${'x'.repeat(20_000)}`,
    431,
    'the head of the request is too large',
  ],
])('OPS-6: %s is told as every refusal', async (_what, requestLine, header, status, error) => {
  const text = await raw(requestLine, header);
  expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(text).toContain('Tidemark-Outcome: not-done');
  expect(text.slice(text.indexOf('\r\n\r\n') + 4)).toBe(JSON.stringify({ error }));
});

test('H8: a Content-Length that is no number is 400', async () => {
  expect(await rawStatus('POST /things/a HTTP/1.1', 'Content-Length: abc')).toBe(400);
});

test('a refusal before the body comes without reading it', async () => {
  const answer = await fetch(await url('/things/a'), { method: 'POST', body: 'x', headers: { 'x-refuse': '1' } });
  expect(answer.status).toBe(415);
  expect(answer.headers.get('tidemark-outcome')).toBe('not-done');
  expect(seen).toEqual(['/things/a']);
});

test('H2, OPS-3: a kept connection that is busy when the shutdown begins gets its answer and does not hold the shutdown', async () => {
  const agent = new Agent({ keepAlive: true });
  const answer = Promise.withResolvers<IncomingMessage>();
  get(await url('/things/slow/answer'), { agent }, answer.resolve);
  await arrived.promise;
  stop.abort();
  const closed = closeHttp(app);
  finish.resolve();
  const { statusCode, headers } = await answer.promise;
  expect([statusCode, headers.connection]).toEqual([200, 'close']);
  await closed;
  agent.destroy();
});

test('a well-formed request id comes back, another is replaced', async () => {
  const given = await fetch(await url('/things/a'), { headers: { 'x-request-id': 'abc-1' } });
  expect(given.headers.get('x-request-id')).toBe('abc-1');
  const forged = await fetch(await url('/things/a'), { headers: { 'x-request-id': 'a b"c' } });
  expect(forged.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  expect(given.headers.get('vary')).toBe('X-Tenant-ID');
});

/** Status of a request that no client library would send. */
async function rawStatus(requestLine: string, header?: string): Promise<number> {
  return Number((await raw(requestLine, header)).split(' ')[1]);
}

async function raw(requestLine: string, header = 'X-Nothing: 1'): Promise<string> {
  const { port } = new URL(await app.getUrl());
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1', () => {
      socket.write(`${requestLine}\r\nHost: x\r\nConnection: close\r\n${header}\r\n\r\n`);
    });
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString()));
    socket.on('end', () => resolve(text));
    socket.on('error', reject);
  });
}
