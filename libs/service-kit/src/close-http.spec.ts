import 'reflect-metadata';
import { closeHttp } from './close-http.ts';
import { type SpecClient, SpecServer } from './spec-server.ts';

let server: SpecServer;
beforeEach(async () => (server = await SpecServer.start()));
afterEach(() => server.close());

const GET = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const FOR_EVER_MS = 600_000;

function ask(path: string): SpecClient {
  const client = server.connect();
  client.write(GET(path));
  return client;
}

test('H2, OPS-3: 10 slow requests beside 50 idle connections are all answered, and told that their connection closes', async () => {
  const idle = Array.from({ length: 40 }, () => ask('/things/a'));
  for (const client of idle) await client.until(/"a"\}$/);
  const silent = Array.from({ length: 10 }, () => server.connect());
  await Promise.all(silent.map(({ socket }) => new Promise((resolve) => socket.once('connect', resolve))));
  const slow = Array.from({ length: 10 }, () => ask('/slow'));
  await server.waiting(10);
  server.leaving.abort();
  const closed = closeHttp(server.app, { keptMs: 0 });
  for (const client of [...idle, ...silent]) expect(await client.all()).not.toContain('RESET');
  server.finish();
  for (const client of slow) {
    expect(await client.all()).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*connection: close\r\n[^]*"late"$/);
  }
  await closed;
});

// kills: close-http.ts: NetServer.prototype.close.call(server); => server.close();
test('H4, OPS-3: a request on a kept connection that comes after the signal is answered, and nobody new is let in', async () => {
  const kept = ask('/things/a');
  await kept.until(/"a"\}$/);
  server.leaving.abort();
  const closed = closeHttp(server.app, { keptMs: FOR_EVER_MS });
  const refused = await new Promise((resolve) => server.connect().socket.once('error', resolve));
  expect(refused).toMatchObject({ code: 'ECONNREFUSED' });
  kept.write(GET('/things/b'));
  expect(await kept.all()).toMatch(/connection: close\r\n[^]*\{"id":"b"\}$/);
  await closed;
});

test('H1: who is asked to leave still accepts connections, and keeps none', async () => {
  server.leaving.abort();
  expect(await ask('/things/a').all()).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*connection: close\r\n[^]*"a"\}$/);
});

test('OPS-3: at the deadline what is still open is cut, and how much is told', async () => {
  const slow = ask('/slow');
  const half = server.connect();
  half.write('POST /things/a HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf');
  await server.waiting(1);
  const cut = jest.fn();
  await closeHttp(server.app, { keptMs: FOR_EVER_MS, drainMs: 20, cut });
  expect(cut).toHaveBeenCalledTimes(1);
  expect(await slow.all()).not.toContain('HTTP/1.1 200');
  await half.all();
});

test('OPS-3: without connections it is over at once', async () => {
  await closeHttp(server.app, { keptMs: FOR_EVER_MS, drainMs: FOR_EVER_MS });
});
