import { type MetricsListener, listenForMetrics } from './metrics-listener.ts';

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
  expect((await fetch(`${listener.url}/livez`)).status).toBe(404);
  expect((await fetch(`${listener.url}/metrics`, { method: 'POST' })).status).toBe(404);
  await listener.close();
  await expect(fetch(`${listener.url}/metrics`)).rejects.toThrow();
});

test('an address that is taken is an error that names it', async () => {
  const port = Number(new URL(listener.url).port);
  await expect(listenForMetrics({ host: '127.0.0.1', port }, exposition)).rejects.toMatchObject({ code: 'EADDRINUSE' });
});
