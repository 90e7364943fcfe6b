import 'reflect-metadata';
import { setTimeout as after } from 'node:timers/promises';
import { SpecServer } from './spec-server.ts';

let server: SpecServer;
beforeAll(async () => {
  server = await SpecServer.start({
    bounds: { lingerMsMax: 60_000 },
    admit: ({ headers }) =>
      headers['x-refuse'] === undefined ? undefined : { status: 403, body: '{"error":"not you"}' },
  });
});
afterAll(() => server.close());

// kills: http.ts: void send(reply, refusal))) => send(reply, refusal).then(done, done)))
test.each([
  ['of a told length', 'Content-Length: 10\r\n\r\nabc'],
  ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n'],
])(
  'SEC-1: a refused request is not worked on when its sender leaves in the middle of a body %s',
  async (_what, body) => {
    for (let left = 0; left < 5; left++) {
      const client = server.connect();
      client.write(`GET /slow HTTP/1.1\r\nHost: x\r\nX-Refuse: 1\r\n${body}`);
      await client.until(/^HTTP\/1\.1 403 [^]*not you/);
      client.socket.resetAndDestroy();
      while (server.requests > 0) await after(5);
      await server.talk('GET /things/a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    }
    expect(server.entered).toBe(0);
  },
);
