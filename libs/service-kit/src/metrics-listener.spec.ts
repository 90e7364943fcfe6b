import { type MetricsListener, listenForMetrics } from './metrics-listener.ts';
import { SpecClient } from './spec-server.ts';

const exposition = async () => ({ status: 200, body: 'up 1\n', contentType: 'text/plain; version=0.0.4' });

let listener: MetricsListener;

beforeEach(async () => {
  listener = await listenForMetrics({ host: '127.0.0.1', port: 0 }, exposition);
});
afterEach(() => listener.close());

// kills: metrics-listener.ts: .split('?', 1)[0] === '/metrics' => .split('?', 1)[0] !== ''
test('SEC-1: the metrics have an address of their own, which serves nothing else', async () => {
  const answer = await fetch(`${listener.url}/metrics`);
  expect([answer.status, await answer.text()]).toEqual([200, 'up 1\n']);
  expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4');
  const elsewhere = await fetch(`${listener.url}/livez`);
  expect([elsewhere.status, elsewhere.headers.get('tidemark-outcome')]).toEqual([404, 'not-done']);
  expect((await fetch(`${listener.url}/metrics`, { method: 'POST' })).status).toBe(404);
  await listener.close();
  await expect(fetch(`${listener.url}/metrics`)).rejects.toThrow();
});

test('OPS-6: metrics that cannot be told are a 500, after which the next are told', async () => {
  const failing = jest.fn(exposition).mockRejectedValueOnce(new Error('no figures'));
  const other = await listenForMetrics({ host: '127.0.0.1', port: 0 }, failing);
  const failed = await fetch(`${other.url}/metrics`);
  expect([failed.status, failed.headers.get('tidemark-outcome'), await failed.text()]).toEqual([500, 'not-done', '']);
  expect((await fetch(`${other.url}/metrics`)).status).toBe(200);
  await other.close();
});

// kills: metrics-listener.ts: .on('clientError', clientErrorHandler(traffic)) => .setTimeout(0)
test.each([
  ['no HTTP', 'hello\r\n\r\n', 400],
  ['two lengths', 'GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n', 400],
  ['a tunnel', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n', 400],
  ['a head that is too large', `GET /metrics HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
])('OPS-6: on its address %s is refused as not done', async (_what, text, status) => {
  const client = new SpecClient(Number(new URL(listener.url).port));
  client.write(text);
  const answer = await client.all();
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(answer).toMatch(/^tidemark-outcome: not-done\r$/im);
});

test('an address that is taken is an error that names it', async () => {
  const port = Number(new URL(listener.url).port);
  await expect(listenForMetrics({ host: '127.0.0.1', port }, exposition)).rejects.toMatchObject({ code: 'EADDRINUSE' });
});
