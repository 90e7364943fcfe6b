import 'reflect-metadata';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, type Server, request as httpRequest } from 'node:http';
import { type Socket, connect } from 'node:net';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ManualTime } from '@tidemark/libs-kernel/testing';
import {
  MemoryOpStore,
  MemoryPrefixRegistry,
  MemoryPresenceBoard,
  anOp,
} from '@tidemark/libs-op-store-contract/testing';
import { MachinesService, PushService, toldAppends } from '@tidemark/libs-relay';
import {
  Metrics,
  closeHttp,
  createHttp,
  createLog,
  guardOf,
  openJwt,
  readJwtKey,
  systemClock,
  systemSleeper,
} from '@tidemark/libs-service-kit';
import { relayAccess } from './access.ts';
import { AppModule } from './app.module.ts';
import { relay } from './relay.ts';
import { specTail } from './spec-tail.ts';

// Real sockets, real time: nothing here waits for a time to pass but `wait=1`.
const time = { ...systemClock, ...systemSleeper };

let app: NestFastifyApplication;
let url: string;
let stop: AbortController;
let tail: ReturnType<typeof specTail>;
let append: (stream: string, ...ids: string[]) => Promise<unknown>;

beforeEach(() => start());
afterEach(() => end());

interface Options {
  readonly strictCursor?: boolean;
  readonly readersMax?: number;
  readonly gate?: Parameters<typeof createHttp>[2]['gate'];
}

async function start({ gate, ...options }: Options = {}): Promise<void> {
  stop = new AbortController();
  const opStore = new MemoryOpStore();
  tail = specTail({ opStore, time, stopping: stop.signal, ...options });
  const told = toldAppends(opStore, tail.hub);
  append = (stream, ...ids) =>
    told.append(
      stream,
      ids.map((opId) => anOp({ opId })),
    );
  const module = AppModule.create({
    opStore,
    push: new PushService(opStore, { append: (stream, ops) => told.append(stream, ops) }),
    pull: tail.tail,
    registry: new MemoryPrefixRegistry(),
    machines: new MachinesService(new MemoryPresenceBoard(), time),
    intake: null,
    deadLetters: null,
    stopping: stop.signal,
    log: { warn: () => {} },
  });
  const parts = {
    log: createLog('relay', 'silent'),
    metrics: new Metrics('relay'),
    clock: time,
    stopping: stop.signal,
    ...(gate && { gate }),
  };
  app = await createHttp(module, relay.http, parts);
  await app.listen(0, '127.0.0.1');
  url = await app.getUrl();
}

async function end(): Promise<void> {
  stop.abort();
  await closeHttp(app, { keptMs: 0 });
}

const EVENTS = { accept: 'text/event-stream' };

/** An answer whose body arrives bit by bit. */
async function open(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  const asked = httpRequest(`${url}${path}`, { headers, method, agent: false });
  asked.end();
  const [message] = (await once(asked, 'response')) as [IncomingMessage];
  return new Answer(message);
}

class Answer {
  readonly message: IncomingMessage;
  readonly ended: Promise<void>;
  text = '';
  #heard = () => {};

  constructor(message: IncomingMessage) {
    this.message = message;
    this.ended = new Promise((resolve) => message.once('close', () => (resolve(), this.#heard())));
    message.setEncoding('utf8');
    message.on('error', () => {});
    message.on('data', (chunk: string) => ((this.text += chunk), this.#heard()));
  }

  get status() {
    return this.message.statusCode;
  }

  get headers() {
    return this.message.headers;
  }

  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.text)) {
      if (this.message.closed) throw new Error(`ended without ${pattern}: ${this.text}`);
      await new Promise<void>((resolve) => (this.#heard = resolve));
    }
    return this.text;
  }

  async whole(): Promise<string> {
    await this.ended;
    return this.text;
  }

  leave(): void {
    this.message.destroy();
  }
}

async function waiting(readers: number): Promise<void> {
  while (tail.counts.waiting !== readers) await new Promise(setImmediate);
}

const get = async (path: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(`${url}${path}`, { headers });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
};

describe('long poll', () => {
  test('RLY-14: an append is the answer to who waits for it', async () => {
    const answering = get('/streams/s/ops?since=0&wait=55');
    await waiting(1);
    await append('s', 'a');
    const answer = await answering;
    expect(answer.text).toMatch(/^\{"ops":\[\{.*"op_id":"a".*\],"next":1\}$/);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(tail.counts.waiting).toBe(0);
  });

  test('RLY-14: without an append the empty page is, with the cursor as it was sent', async () => {
    expect((await get('/streams/s/ops?since=-3&wait=1')).text).toBe('{"ops":[],"next":-3}');
  });

  test('RLY-14: wait is whole seconds up to 55, and 0 waits for nothing', async () => {
    expect((await get('/streams/s/ops?wait=0')).text).toBe('{"ops":[],"next":0}');
    await append('s', 'a');
    expect((await get('/streams/s/ops?wait=55')).status).toBe(200);
    for (const wait of ['56', 'x', '-1', '1.5', '', '1&wait=2', '999']) {
      const answer = await get(`/streams/s/ops?wait=${wait}`);
      expect([wait, answer.status, answer.text]).toEqual([wait, 400, expect.stringContaining('wait')]);
    }
  });

  test('OPS-4: a client that goes gives its place back', async () => {
    const asked = httpRequest(`${url}/streams/s/ops?wait=55`, { agent: false });
    asked.on('error', () => {});
    asked.end();
    await waiting(1);
    asked.destroy();
    await waiting(0);
  });

  test('OPS-4: one reader too many is a 503 with Retry-After, and others are served', async () => {
    await end();
    await start({ readersMax: 1 });
    const first = get('/streams/s/ops?wait=55');
    await waiting(1);
    for (const headers of [{}, EVENTS]) {
      const refused = await get('/streams/s/ops?wait=5', headers);
      expect([refused.status, refused.headers.get('retry-after'), refused.headers.get('tidemark-outcome')]).toEqual([
        503,
        '5',
        'not-done',
      ]);
    }
    expect((await get('/streams/s/ops')).status).toBe(200);
    await append('s', 'a');
    expect((await first).status).toBe(200);
  });
});

describe('stream of events', () => {
  test('RLY-14: ops come as they are appended, page by page, with the cursor as id', async () => {
    await append('s', 'a', 'b', 'c');
    const events = await open('/streams/s/ops?limit=2', EVENTS);
    expect([events.status, events.headers['content-type'], events.headers['cache-control']]).toEqual([
      200,
      'text/event-stream',
      'no-store',
    ]);
    expect(events.headers).toMatchObject({ 'x-accel-buffering': 'no', 'x-content-type-options': 'nosniff' });
    expect(events.headers['x-request-id']).toBeTruthy();
    await events.until(/\nid: 3\n/);
    await append('s', 'd');
    const text = await events.until(/\nid: 4\ndata: .*\n\n$/);
    const pages = [...text.matchAll(/^id: (\d+)\ndata: (.*)$/gm)].map(([, id, data]) => [id, JSON.parse(data!).next]);
    expect(pages).toEqual([
      ['2', 2],
      ['3', 3],
      ['4', 4],
    ]);
    events.leave();
    await waiting(0);
  });

  test('RLY-14: Last-Event-ID wins over since; both may be wrong', async () => {
    await append('s', 'a', 'b', 'c');
    const resumed = await open('/streams/s/ops?since=0', { ...EVENTS, 'last-event-id': '2' });
    expect(await resumed.until(/id: 3/)).not.toContain('"a"');
    resumed.leave();
    const first = await open('/streams/s/ops?since=1', { ...EVENTS, 'last-event-id': '' });
    expect(await first.until(/id: 3/)).toContain('"b"');
    first.leave();
    for (const id of ['x', '1.5', '9223372036854775808', '1, 2']) {
      const refused = await get('/streams/s/ops', { ...EVENTS, 'last-event-id': id });
      expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('Last-Event-ID')]);
    }
    expect((await get('/streams/s/ops?limit=0', EVENTS)).status).toBe(400);
    expect((await get('/streams/s/ops?since=x', EVENTS)).status).toBe(400);
  });

  test('RLY-17: a cursor above the head is a 409 with the head, and no stream of events', async () => {
    await append('s', 'a');
    const refused = await get('/streams/s/ops?since=2', EVENTS);
    expect([refused.status, refused.headers.get('content-type'), JSON.parse(refused.text).head]).toEqual([
      409,
      'application/json',
      1,
    ]);
    expect([refused.headers.get('tidemark-head'), refused.headers.get('tidemark-outcome')]).toEqual(['1', 'not-done']);
    expect((await get('/streams/s/ops?since=2')).text).toBe('{"ops":[],"next":2}');
    expect(tail.counts.waiting).toBe(0);
  });

  test('RLY-17, R35: with the setting a pull is told so too, with or without a wait, and when to come again', async () => {
    await end();
    await start({ strictCursor: true });
    await append('s', 'a');
    for (const query of ['since=2', 'since=2&wait=55']) {
      const refused = await get(`/streams/s/ops?${query}`);
      expect([refused.status, JSON.parse(refused.text).head, refused.headers.get('retry-after')]).toEqual([
        409,
        1,
        '5',
      ]);
    }
    expect((await get('/streams/s/ops?since=1')).text).toBe('{"ops":[],"next":1}');
  });

  test('RLY-14: only who accepts server-sent events gets them', async () => {
    await append('s', 'a');
    for (const accept of ['*/*', 'application/json', 'text/event-stream;q=0', 'text/event-streams']) {
      expect([accept, (await get('/streams/s/ops', { accept })).headers.get('content-type')]).toEqual([
        accept,
        'application/json',
      ]);
    }
    for (const accept of ['TEXT/Event-Stream', 'application/json, text/event-stream;q=0.5']) {
      const events = await open('/streams/s/ops', { accept });
      expect(events.headers['content-type']).toBe('text/event-stream');
      events.leave();
    }
    await waiting(0);
  });

  test('RLY-14: HEAD tells the head of the answer and takes no place', async () => {
    const head = await open('/streams/s/ops', EVENTS, 'HEAD');
    expect([head.status, head.headers['content-type'], await head.whole()]).toEqual([200, 'text/event-stream', '']);
    expect(tail.counts.waiting).toBe(0);
  });

  // kills: pull.controller.ts: response.end(); => response.writableEnded;
  test('RLY-14: after the answer to HEAD its connection serves on', async () => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('utf8');
    let text = '';
    const served = new Promise<void>((resolve) =>
      socket.on('data', (chunk: string) => /"next":0\}$/.test((text += chunk)) && resolve()),
    );
    const head = (method: string, more: string) => `${method} /streams/s/ops HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
    socket.write(head('HEAD', 'Accept: text/event-stream\r\n') + head('GET', ''));
    await served;
    expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
    socket.destroy();
  });

  test('RLY-14: a client of HTTP/1.0 gets events until the connection ends', async () => {
    const port = Number(new URL(url).port);
    const socket = connect(port, '127.0.0.1');
    socket.setEncoding('utf8');
    let text = '';
    const ended = new Promise((resolve) => socket.on('data', (chunk) => (text += chunk)).on('close', resolve));
    socket.write('GET /streams/s/ops HTTP/1.0\r\nAccept: text/event-stream\r\n\r\n');
    await waiting(1);
    await append('s', 'a');
    while (!/\nid: 1\n/.test(text)) await new Promise(setImmediate);
    stop.abort();
    await ended;
    expect(text).toMatch(/\r\n\r\nretry: \d+\n\nid: 1\ndata: .*\n\n$/);
    expect(text).not.toMatch(/transfer-encoding/i);
  });
});

describe('readers whose JWT expires', () => {
  const SECRET = 'a shared secret of more than 32 bytes';
  let guardTime: ManualTime;
  let headers: { authorization: string };

  beforeEach(async () => {
    await end();
    guardTime = new ManualTime();
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const grants = [{ actions: ['read'], streams: ['s'] }];
    const claims = { sub: 'reader', exp: Math.floor(guardTime.now() / 1000) + 60, tidemark: grants };
    const signed = `${encode({ alg: 'HS256' })}.${encode(claims)}`;
    const signature = createHmac('sha256', SECRET).update(signed).digest('base64url');
    headers = { authorization: `Bearer ${signed}.${signature}` };
    const parts = { clock: guardTime, log: createLog('relay', 'silent'), metrics: new Metrics('relay') };
    const authenticator = await openJwt({ ...parts, keys: readJwtKey(SECRET) });
    await start({ gate: { guard: guardOf({ ...parts, authenticator, access: relayAccess }) } });
  });

  test('SEC-1: a stream of events ends, and tells of nothing that is appended later', async () => {
    const events = await open('/streams/s/ops', { ...EVENTS, ...headers });
    await append('s', 'while it is valid');
    await events.until(/while it is valid/);
    guardTime.advance(120_000);
    await append('s', 'later');
    expect(await events.whole()).not.toContain('later');
    expect((await get('/streams/s/ops', headers)).status).toBe(401);
  });

  // kills: pull.controller.ts: wait > 0 && !(await stillAllowed(request)) => false
  test('SEC-1: a long poll is not answered with what is appended later', async () => {
    const polled = get('/streams/s/ops?wait=55', headers);
    await waiting(1);
    guardTime.advance(120_000);
    await append('s', 'later');
    const { status, text } = await polled;
    expect(status).toBe(403);
    expect(text).not.toContain('later');
  });

  test('SEC-1: who has no credentials reads the description of the routes, and nothing else', async () => {
    for (const path of ['/v1/openapi.json', '/v1/streams', '/streams/s/ops', '/v1/streams/s', '/v1/openapi.yaml'])
      expect([path, (await get(path)).status]).toEqual([path, ANYBODY[path] ?? 401]);
    expect((await fetch(`${url}/v1/openapi.json`, { method: 'POST' })).status).toBe(405);
  });
  const ANYBODY: Record<string, number> = { '/v1/openapi.json': 200, '/v1/openapi.yaml': 404 };
});

// kills: pull.controller.ts: followed = await this.#tail.follow(stream, since, limit, whenGone(request, reply)) => followed = await this.#tail.follow(stream, since, limit, new AbortController().signal)
test('OPS-4, RLY-14: readers that leave while they are asked who they are keep no seat', async () => {
  await end();
  const asked: (() => void)[] = [];
  const slow = () => new Promise<undefined>((resolve) => asked.push(() => resolve(undefined)));
  await start({ gate: { guard: slow } });
  const server = app.getHttpServer() as Server;
  for (const accept of ['text/event-stream', '*/*']) {
    const closed = new Promise((resolve) =>
      server.once('connection', (socket: Socket) => socket.once('close', resolve)),
    );
    const client = connect(Number(new URL(url).port), '127.0.0.1');
    client.write(`GET /streams/s/ops?wait=55 HTTP/1.1\r\nHost: x\r\nAccept: ${accept}\r\n\r\n`);
    while (asked.length === 0) await systemSleeper.sleep(1);
    client.destroy();
    await closed;
    asked.pop()?.();
  }
  // What the two would have done by now, this one has.
  const last = get('/streams/s/ops?wait=1');
  while (asked.length === 0) await systemSleeper.sleep(1);
  asked.pop()?.();
  await last;
  expect(tail.counts.waiting).toBe(0);
});

test('OPS-3: a shutdown answers 100 waiting readers at once, and waits for none of them', async () => {
  const polls = Array.from({ length: 50 }, () => get('/streams/s/ops?wait=55'));
  const events = await Promise.all(Array.from({ length: 50 }, () => open('/streams/s/ops', EVENTS)));
  await waiting(100);
  await end();
  expect((await Promise.all(polls)).map(({ text }) => text)).toEqual(polls.map(() => '{"ops":[],"next":0}'));
  for (const one of events) expect(await one.whole()).toMatch(/^retry: \d+\n\n$/);
  await start();
});
