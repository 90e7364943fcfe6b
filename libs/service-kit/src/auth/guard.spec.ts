import 'reflect-metadata';
import { Controller, Get, Module, Post, Req, Res } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Fault } from '@tidemark/libs-kernel';
import { ManualTime } from '@tidemark/libs-kernel/testing';
import { faultAnswer, json, send } from '../answer.ts';
import { createHttp } from '../http.ts';
import { createLog } from '../log.ts';
import { Metrics } from '../metrics.ts';
import { ProbesModule } from '../probes.module.ts';
import { systemClock } from '../system.ts';
import type { Access, Grant } from './access.ts';
import { type Authenticator, refused } from './authenticator.ts';
import { callerOf, guardOf, stillAllowed } from './guard.ts';

const time = new ManualTime();
let last: FastifyRequest;

@Controller('streams/:stream/ops')
class OpsController {
  @Get()
  get(@Req() request: FastifyRequest, @Res() reply: FastifyReply) {
    last = request;
    return send(reply, json(JSON.stringify({ caller: callerOf(request) })));
  }

  @Post()
  post(@Res() reply: FastifyReply) {
    return send(reply, json('{}'));
  }
}

@Controller('unruled')
class UnruledController {
  @Get()
  get(@Res() reply: FastifyReply) {
    return send(reply, json('{}'));
  }
}

@Module({ controllers: [OpsController, UnruledController] })
class ThingsModule {}

const access: Access = ({ method, route, params }) =>
  route === '/streams/:stream/ops'
    ? { action: method === 'GET' ? 'read' : 'write', tenant: null, stream: params.stream ?? '' }
    : undefined;

const callers: Record<string, readonly Grant[]> = {
  reader: [{ actions: ['read'], tenants: '*', streams: ['a'] }],
  everywhere: [{ actions: ['read', 'write'], tenants: '*', streams: '*' }],
  operator: [{ actions: ['read', 'write', 'admin'], tenants: '*', streams: '*' }],
};

const authenticator: Authenticator = {
  async authenticate(token) {
    if (token === 'down') throw new Fault('unavailable', 'cannot tell');
    const grants = callers[token];
    return grants === undefined
      ? refused('unknown token')
      : { kind: 'caller', caller: { name: token, grants, roles: [], claims: {} } };
  },
  async watch() {},
};

let app: NestFastifyApplication;

beforeAll(async () => {
  const probes = { live: () => json('{}'), ready: async () => json('{}') };
  const [log, metrics] = [createLog('test', 'silent'), new Metrics('test')];
  app = await createHttp(
    ProbesModule.around({ module: ThingsModule }, probes, async () => json('{}')),
    {
      bodyBytesMax: 10,
      admit: ({ url }) => (url.startsWith('/streams/admit') ? { status: 415, body: 'no' } : undefined),
      faultAnswer: (fault) => ({ ...faultAnswer(fault), body: fault.message, contentType: 'text/plain' }),
    },
    {
      log,
      metrics,
      clock: systemClock,
      stopping: new AbortController().signal,
      gate: { guard: guardOf({ authenticator, access, clock: time, log, metrics }) },
    },
  );
  await app.listen(0, '127.0.0.1');
});
afterAll(() => app.close());

async function ask(path: string, token?: string, init: RequestInit = {}) {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return fetch(`${await app.getUrl()}${path}`, { ...init, headers });
}

// kills: guard.ts: request.method === 'HEAD' ? 'GET' : request.method => request.method
test('SEC-1: who may do it is served, and known to the service by name', async () => {
  const answer = await ask('/streams/a/ops', 'reader');
  expect([answer.status, await answer.json()]).toEqual([200, { caller: 'reader' }]);
  const basic = `Basic ${Buffer.from('git:reader').toString('base64')}`;
  const answered = await fetch(`${await app.getUrl()}/streams/a/ops`, { headers: { authorization: basic } });
  expect(answered.status).toBe(200);
  expect((await ask('/streams/a/ops', 'reader', { method: 'HEAD' })).status).toBe(200);
});

// kills: guard.ts: status: 401, => status: 404,
test('SEC-1: without credentials, or with wrong ones, it is 401 with a challenge, in the words of the service', async () => {
  const none = await ask('/streams/a/ops');
  expect([none.status, await none.text()]).toEqual([401, 'credentials are required']);
  expect(none.headers.get('www-authenticate')).toBe('Bearer realm="tidemark", Basic realm="tidemark", charset="UTF-8"');
  expect(none.headers.get('tidemark-outcome')).toBe('not-done');
  expect(none.headers.get('content-type')).toBe('text/plain');
  expect(none.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  const wrong = await ask('/streams/a/ops', 'nobody');
  expect([wrong.status, await wrong.text()]).toEqual([401, 'the credentials are not valid']);
  expect(wrong.headers.get('www-authenticate')).toContain('error="invalid_token"');
});

// kills: guard.ts: if (need !== undefined && mayDo(caller.grants, need)) => if (true)
test('SEC-1: without the right it is 403, which names what is missing', async () => {
  const write = await ask('/streams/a/ops', 'reader', { method: 'POST', body: '{}' });
  expect([write.status, await write.text()]).toEqual([403, 'no grant for write on stream "a"']);
  expect((await ask('/streams/b/ops', 'reader')).status).toBe(403);
});

// kills: guard.ts: if (need !== undefined && mayDo => if (need === undefined || mayDo
test('SEC-1: a route without a rule is closed to everybody', async () => {
  expect((await ask('/unruled', 'operator')).status).toBe(403);
});

test('SEC-1: who asks is judged before anything else, and before the body is read', async () => {
  const large = { method: 'POST', body: 'x'.repeat(11) };
  expect((await ask('/streams/a/ops', undefined, large)).status).toBe(401);
  expect((await ask('/streams/a/ops', 'reader', large)).status).toBe(403);
  expect((await ask('/streams/a/ops', 'operator', large)).status).toBe(413);
  expect((await ask('/streams/admit/ops')).status).toBe(401);
  expect((await ask('/streams/admit/ops', 'operator')).status).toBe(415);
});

// kills: guard.ts: METRICS: Need = { action: 'admin' => METRICS: Need = { action: 'read'
// kills: guard.ts: '/readyz', '/v1/openapi.json' => '/readyz', '/metrics', '/v1/openapi.json'
test('SEC-1: probes need no credentials, metrics an admin', async () => {
  expect((await ask('/livez')).status).toBe(200);
  expect((await ask('/readyz')).status).toBe(200);
  expect((await ask('/metrics')).status).toBe(401);
  expect((await ask('/metrics', 'reader')).status).toBe(403);
  expect((await ask('/metrics', 'everywhere')).status).toBe(403);
  expect((await ask('/metrics', 'operator')).status).toBe(200);
});

test('SEC-1: while nobody can tell whose the token is, it is 503, not 401', async () => {
  const answer = await ask('/streams/a/ops', 'down');
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
});

test('a path or method that nobody serves is told as such, whoever asks', async () => {
  expect((await ask('/nothing')).status).toBe(404);
  expect((await ask('/streams/a/ops', undefined, { method: 'DELETE' })).status).toBe(405);
});

// kills: guard.ts: || hasEmptySegment(request)) => )
test('RLY-1, SEC-1: a path with an empty segment is a 404 for whoever is known, whatever they may do', async () => {
  expect((await ask('/streams//ops')).status).toBe(401);
  expect((await ask('/streams//ops', 'reader')).status).toBe(404);
  expect((await ask('/streams//ops', 'operator', { method: 'POST', body: '{}' })).status).toBe(404);
});

// kills: guard.ts: if (nowMs - judged.atMs >= JUDGED_MS) => if (nowMs < judged.atMs)
test('SEC-1: an answer that goes on is told within a second that its caller may no more', async () => {
  callers.passing = callers.reader!;
  await ask('/streams/a/ops', 'passing');
  const [open, others] = [last, callers.passing];
  const afterASecond = () => (time.advance(1000), stillAllowed(open));
  expect(await afterASecond()).toBe(true);
  callers.passing = [{ actions: ['write'], tenants: '*', streams: ['a'] }];
  expect([await stillAllowed(open), await afterASecond()]).toEqual([true, false]);
  callers.passing = others;
  expect(await afterASecond()).toBe(true);
  delete callers.passing;
  expect(await afterASecond()).toBe(false);
});
