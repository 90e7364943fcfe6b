import 'reflect-metadata';
import { setTimeout as after } from 'node:timers/promises';
import { LARGE_BYTES, type SpecClient, SpecServer } from './spec-server.ts';

let server: SpecServer;
afterEach(() => server.close());

const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;
const post = (path: string, bytes: number, sent = bytes) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes}\r\n\r\n${'x'.repeat(sent)}`;
const chunks = (path: string) => `POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`;

function ask(text: string): SpecClient {
  const client = server.connect();
  client.write(text);
  return client;
}

const OVERLOADED = /^HTTP\/1\.1 503 [^]*\r\n\r\n.+/;
const heldBytes = (kind: string) => server.metric(`tidemark_http_held_bytes{kind="${kind}"`);

/** Resolves when the metric has the value; the test's time limit is the bound. */
async function becomes(metric: () => Promise<number>, value: number): Promise<void> {
  while ((await metric()) !== value) await after(5);
}

async function expectRefused(client: SpecClient, words: string): Promise<void> {
  const answer = await client.until(OVERLOADED);
  expect(answer).toMatch(/^retry-after: 1\r$/m);
  expect(answer).toMatch(/^tidemark-outcome: not-done\r$/m);
  expect(answer).toContain(words);
  client.cut();
}

describe('bodies', () => {
  // kills: byte-budget.ts: this.#held + bytes > this.bytesMax => false
  test('OPS-4: bodies that would be too much together are 503 before they are read, and fit again when one has been answered', async () => {
    server = await SpecServer.start({ bounds: { bodiesBytesMax: 150 } });
    const first = ask(post('/slow', 100));
    await server.waiting(1);
    expect(await heldBytes('bodies')).toBe(100);
    await expectRefused(ask(post('/things/a', 51, 0)), 'too many request bodies');
    const second = ask(post('/things/a', 50));
    await second.until(/\r\n\r\n50$/);
    second.cut();
    server.finish();
    await first.until(/\r\n\r\n100$/);
    await becomes(() => heldBytes('bodies'), 0);
    await ask(post('/things/a', 100)).until(/\r\n\r\n100$/);
    first.cut();
  });

  // kills: counted-bodies.ts: take(piece.length); => void take;
  test('OPS-4: a body of unknown length counts as it comes, and is 503 where it no longer fits', async () => {
    server = await SpecServer.start({ bounds: { bodiesBytesMax: 150 } });
    const chunk = (bytes: number) => `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`;
    const slow = Array.from({ length: 3 }, () => ask(`${chunks('/slow')}${chunk(40)}`));
    await becomes(() => heldBytes('bodies'), 120);
    const small = ask(`${chunks('/things/a')}${chunk(30)}0\r\n\r\n`);
    await small.until(/\r\n\r\n30$/);
    await becomes(() => heldBytes('bodies'), 120);
    slow[0]?.write(chunk(31));
    await expectRefused(slow[0] as SpecClient, 'too many request bodies');
    await becomes(() => heldBytes('bodies'), 80);
    slow[1]?.write(`${chunk(60)}0\r\n\r\n`);
    await server.waiting(1);
    server.finish();
    await slow[1]?.until(/\r\n\r\n100$/);
    for (const client of [...slow, small]) client.cut();
    await becomes(() => heldBytes('bodies'), 0);
  });

  test('OPS-4: a route may take less than the service', async () => {
    server = await SpecServer.start({ routeBodyBytesMax: { '/small': 10 } });
    await ask(post('/small', 10)).until(/\r\n\r\n10$/);
    await ask(post('/small', 11)).until(/^HTTP\/1\.1 413 [^]*request body exceeded 10 bytes/);
    await ask(`${chunks('/small')}b\r\n${'x'.repeat(11)}\r\n`).until(/^HTTP\/1\.1 413 [^]*exceeded 10 bytes/);
    await ask(post('/things/a', 11)).until(/\r\n\r\n11$/);
  });

  // kills: traffic.ts: response.closed => false
  test('OPS-4: an answer that is made after its client has left gives its bytes back', async () => {
    server = await SpecServer.start();
    for (let left = 0; left < 5; left++) {
      const client = ask(post('/slow', 50));
      await server.waiting(left + 1);
      client.cut();
    }
    while (server.requests > 0) await after(5);
    server.finish();
    const last = ask(post('/things/a', 5));
    await last.until(/\r\n\r\n5$/);
    last.cut();
    await becomes(() => heldBytes('answers'), 0);
    expect(await heldBytes('bodies')).toBe(0);
  });

  // kills: http-load.ts: this.#bodies.release(request.heldBytes ?? 0); => void 0;
  test('OPS-4, H10: a body that is cut gives its bytes back, five hundred times', async () => {
    server = await SpecServer.start({ bounds: { bodiesBytesMax: 1000 } });
    for (let i = 0; i < 500; i += 10) {
      const clients = Array.from({ length: 10 }, () => ask(post('/things/a', 100, 60)));
      await becomes(() => heldBytes('bodies'), 1000);
      for (const client of clients) client.cut();
      await becomes(() => Promise.resolve(server.requests), 0);
    }
    expect(await heldBytes('bodies')).toBe(0);
    await ask(post('/things/a', 100)).until(/\r\n\r\n100$/);
  });

  test('OPS-4: a request that waits without a body holds none, and what reads none is answered beside full bodies', async () => {
    server = await SpecServer.start({ bounds: { bodiesBytesMax: 100 } });
    const polls = Array.from({ length: 5 }, () => ask(get('/slow', 'Content-Length: 50\r\n') + 'x'.repeat(50)));
    await server.waiting(5);
    expect(await heldBytes('bodies')).toBe(0);
    const body = ask(post('/slow', 100));
    await server.waiting(6);
    await ask(get('/things/a')).until(/\{"id":"a"\}$/);
    for (const client of [...polls, body]) client.cut();
  });

  test('OPS-4: the rest of a refused body is dropped, and its sender reads the refusal', async () => {
    server = await SpecServer.start({ bodyBytesMax: 1 << 20, bounds: { bodiesBytesMax: 100 } });
    const client = ask(post('/things/a', 1 << 20));
    const answer = await client.all();
    expect(answer).toMatch(OVERLOADED);
    expect(answer).toMatch(/^connection: close\r$/m);
    expect(answer).not.toContain('RESET');
  });
});

describe('connections', () => {
  // kills: http-load.ts: this.#surplus.has(socket) && this.traffic.connections > connectionsMax => false
  test('OPS-4: a connection too many is told so, a probe on it is answered, and one far too many is not accepted', async () => {
    server = await SpecServer.start({ bounds: { connectionsMax: 10 } });
    const kept = Array.from({ length: 10 }, () => ask(get('/things/a')));
    for (const client of kept) await client.until(/"a"\}$/);
    const surplus = ask(get('/livez'));
    await surplus.until(/"ok"\}$/);
    expect(await ask(get('/things/a')).all()).not.toMatch(/^HTTP\/1\.1 200/);
    surplus.write(get('/things/a'));
    expect(await surplus.all()).toMatch(/HTTP\/1\.1 503 [^]*connection: close[^]*too many connections/);
    kept[0]?.write(get('/things/b'));
    await kept[0]?.until(/"b"\}$/);
    for (const client of kept) client.cut();
  });

  // kills: http-load.ts: this.traffic.requestsOf(socket) > pipelinedMax => false
  test('OPS-4: a connection that asks thousands of times without waiting gets its first answers and is closed', async () => {
    server = await SpecServer.start({ bounds: { pipelinedMax: 4 } });
    const client = ask(get('/slow').repeat(4000));
    await server.waiting(4);
    expect(server.requests).toBeLessThan(3000);
    server.finish();
    const answer = await client.all();
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual([...Array<string>(4).fill('HTTP/1.1 200'), 'HTTP/1.1 503']);
  });

  // kills: traffic.ts: this.#requests--; => void 0;
  test('OPS-4: a connection that breaks gives back what its requests in a row have taken', async () => {
    server = await SpecServer.start();
    const client = ask(post('/slow', 10).repeat(3));
    await server.waiting(3);
    expect([server.requests, await heldBytes('bodies')]).toEqual([3, 30]);
    client.cut();
    await becomes(() => Promise.resolve(server.requests), 0);
    expect(await heldBytes('bodies')).toBe(0);
  });

  test('OPS-4: requests too many over all connections are 503 and keep their connections', async () => {
    server = await SpecServer.start({ bounds: { connectionsMax: 2 } });
    const client = ask(get('/slow') + get('/slow') + get('/things/a') + get('/things/b'));
    await server.waiting(2);
    await becomes(() => Promise.resolve(server.requests), 4);
    server.finish();
    const answer = await client.until(/"b"\}$|(too many requests[^]*){2}/);
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 503', 'HTTP/1.1 503']);
    client.cut();
  });
});

describe('times', () => {
  test.each([
    ['nothing', ''],
    ['half a head', 'GET /things/a HTTP/1.1\r\nHost:'],
    ['half a body', post('/things/a', 10, 5)],
  ])('OPS-4: a connection that sends %s and no more is told 408', async (_what, text) => {
    server = await SpecServer.start({ bounds: { headMsMax: 50, requestMsMax: 50 } });
    const answer = await ask(text).all();
    expect(answer).toMatch(/^HTTP\/1\.1 408 [^]*Tidemark-Outcome: not-done[^]*did not arrive in time/);
    await becomes(() => heldBytes('bodies'), 0);
  });

  test('OPS-4: a request that waits longer than it may take to arrive is not cut', async () => {
    server = await SpecServer.start({ bounds: { headMsMax: 3000, requestMsMax: 3000 } });
    const late = ask(post('/things/a', 10, 5));
    const client = ask(post('/slow', 3));
    await server.waiting(1);
    await late.all();
    server.finish();
    await client.until(/\r\n\r\n3$/);
    client.cut();
  });
});

describe('answers', () => {
  // kills: http-load.ts: socket?.setTimeout?.(this.bounds.stalledMsMax); => void socket;
  test('OPS-4: answers that nobody takes are counted, more are not made, and their readers are cut off', async () => {
    server = await SpecServer.start({ bounds: { bodiesBytesMax: LARGE_BYTES, stalledMsMax: 3000 } });
    const stalled = server.connect();
    stalled.socket.pause();
    stalled.write(get('/large'));
    await becomes(() => heldBytes('answers'), LARGE_BYTES);
    await expectRefused(ask(get('/things/a')), 'too many answers');
    await ask(post('/things/a', 3)).until(/\r\n\r\n3$/);
    await becomes(() => heldBytes('answers'), 0);
    await ask(get('/things/a')).until(/"a"\}$/);
    stalled.cut();
  });

  // kills: http-load.ts: isGivenUp && this.#answers.full => false
  test('OPS-4: of answers that were waited for at the same time, those beyond the bound are 503 and not held', async () => {
    server = await SpecServer.start({ bounds: { bodiesBytesMax: LARGE_BYTES } });
    const clients = Array.from({ length: 4 }, () => ask(get('/slow/large')));
    await server.waiting(4);
    server.finish();
    const answers = await Promise.all(clients.map((client) => client.until(/"error":|x$/)));
    const refused = answers.filter((answer) => answer.startsWith('HTTP/1.1 503'));
    expect(refused).toHaveLength(3);
    for (const answer of refused) {
      expect(answer).toMatch(/^retry-after: 1\r$/m);
      expect(answer).toMatch(/^tidemark-outcome: not-done\r$/m);
      expect(answer).toMatch(/\r\n\r\n\{"error":"too many answers that are not taken"\}$/);
    }
    for (const client of clients) client.cut();
    await becomes(() => heldBytes('answers'), 0);
  });

  // kills: http-load.ts: if (holders === 0) this.#answers.hold => this.#answers.hold
  test('OPS-4: readers of the same bytes hold them once, until the last of them has gone', async () => {
    server = await SpecServer.start({ bounds: { bodiesBytesMax: LARGE_BYTES } });
    const clients = Array.from({ length: 3 }, () => ask(get('/slow/shared')));
    await server.waiting(3);
    for (const client of clients) client.socket.pause();
    server.finish();
    await becomes(() => heldBytes('answers'), LARGE_BYTES);
    for (const left of [2, 1, 0]) {
      clients[left]?.cut();
      await becomes(() => Promise.resolve(server.requests), left);
      expect(await heldBytes('answers')).toBe(left > 0 ? LARGE_BYTES : 0);
    }
  });
});
