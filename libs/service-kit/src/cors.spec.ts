import 'reflect-metadata';
import { Controller, Get, Module, Res } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply } from 'fastify';
import { Fault } from '@tidemark/libs-kernel';
import { faultAnswer } from './answer.ts';
import { type CorsOrigins, corsOrigins } from './cors.ts';
import { createHttp } from './http.ts';
import { createLog } from './log.ts';
import { Metrics } from './metrics.ts';
import { systemClock } from './system.ts';

@Controller('things')
class ThingsController {
  @Get()
  get(@Res() reply: FastifyReply) {
    return reply.header('tidemark-seq', '7').send('{}');
  }
}

@Module({ controllers: [ThingsController] })
class ThingsModule {}

let app: NestFastifyApplication;
afterEach(() => app.close());

async function start(cors: CorsOrigins | null): Promise<void> {
  const nobody = async () => faultAnswer(new Fault('denied', 'no'));
  app = await createHttp(
    { module: ThingsModule },
    { bodyBytesMax: 10 },
    {
      log: createLog('test', 'silent'),
      metrics: new Metrics('test'),
      clock: systemClock,
      stopping: new AbortController().signal,
      gate: { cors, guard: cors === null ? null : nobody },
    },
  );
  await app.init();
}

const ORIGIN = 'https://app.example.org';
const ask = (method: 'GET' | 'OPTIONS', headers: Record<string, string>) =>
  app.inject({ method, url: '/things', headers });
const preflight = (origin: string) => ask('OPTIONS', { origin, 'access-control-request-method': 'GET' });

// kills: gate.ts: cors === null ? undefined : => cors === null ? preflightAnswer('*', request) :
test('SEC-1: without the setting OPTIONS is 405 and no answer speaks of origins', async () => {
  await start(null);
  expect((await preflight(ORIGIN)).statusCode).toBe(405);
  const answer = await ask('GET', { origin: ORIGIN });
  expect(answer.statusCode).toBe(200);
  expect(Object.keys(answer.headers).filter((name) => /^access-control|^vary$/.test(name))).toEqual([]);
});

// kills: http.ts: if (parts.gate?.cors) => if (false)
test.each(['/things?a=%zz', '/thi%zzngs'])('SEC-1: the page may read why %s was refused, too', async (url) => {
  await start([ORIGIN]);
  const { statusCode, headers } = await app.inject({ method: 'GET', url, headers: { origin: ORIGIN } });
  expect([statusCode, headers['access-control-allow-origin']]).toEqual([400, ORIGIN]);
  expect(headers['access-control-expose-headers']).toContain('Retry-After');
});

test('SEC-1: a preflight of a named origin is answered without credentials', async () => {
  await start([ORIGIN, 'http://localhost:3000']);
  const { statusCode, headers } = await preflight(ORIGIN);
  expect(statusCode).toBe(204);
  expect(headers).toMatchObject({
    'access-control-allow-origin': ORIGIN,
    'access-control-allow-methods': 'GET, HEAD, POST, DELETE',
    vary: 'Origin',
  });
  expect(headers['access-control-allow-headers']).toMatch(/^Authorization, Content-Type,/);
  expect(headers['access-control-allow-credentials']).toBeUndefined();
});

// kills: cors.ts: || origins.includes(origin) => || true
test('SEC-1: another origin is told nothing, and asked for credentials as everybody', async () => {
  await start([ORIGIN]);
  for (const origin of ['https://app.example.org.evil.net', 'http://app.example.org', 'null']) {
    expect((await preflight(origin)).statusCode).toBe(405);
    const answer = await ask('GET', { origin });
    expect([answer.statusCode, answer.headers['access-control-allow-origin']]).toEqual([403, undefined]);
    expect(answer.headers.vary).toBe('Origin');
  }
});

test('SEC-1: a refusal too says that the page may read it, and which headers', async () => {
  await start('*');
  const { statusCode, headers } = await ask('GET', { origin: ORIGIN });
  expect([statusCode, headers['access-control-allow-origin']]).toEqual([403, '*']);
  expect(headers['access-control-expose-headers']).toBe(
    'Tidemark-Seq, Tidemark-Head, Tidemark-Outcome, Retry-After, X-Request-Id',
  );
});

test('the setting takes * or exact origins', () => {
  expect(corsOrigins.parse('*')).toBe('*');
  expect(corsOrigins.parse('https://a.example, http://b.example:8080')).toEqual([
    'https://a.example',
    'http://b.example:8080',
  ]);
  for (const bad of [
    'https://a.example/',
    'a.example',
    '*.example',
    'https://a.example,*',
    'null',
    'https://A.example',
  ])
    expect([bad, corsOrigins.safeParse(bad).success]).toEqual([bad, false]);
});
