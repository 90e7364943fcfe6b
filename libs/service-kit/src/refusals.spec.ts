import 'reflect-metadata';
import { SpecServer } from './spec-server.ts';

let server: SpecServer;
beforeAll(async () => (server = await SpecServer.start({ bounds: { lingerMsMax: 50 } })));
afterAll(() => server.close());

const HEAD = 'Host: x\r\nConnection: close\r\n';
const request = (line: string, headers = '', body = '') => `${line} HTTP/1.1\r\n${HEAD}${headers}\r\n${body}`;
const post = (headers: string, body = '') => request('POST /things/a', headers, body);
const chunked = (body: string, coding = 'chunked') => post(`Transfer-Encoding: ${coding}\r\n`, body);
const sized = (length: string) => post(`Content-Length: ${length}\r\n`, 'abc');
const bodyIn = (answer: string) => answer.slice(answer.lastIndexOf('\r\n\r\n') + 4);
const ABC = '3\r\nabc\r\n0\r\n\r\n';

const REFUSED: readonly (readonly [what: string, text: string | Uint8Array, status: number])[] = [
  ['no Host', 'GET /things/a HTTP/1.1\r\n\r\n', 400],
  ['two Hosts', 'GET /things/a HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400],
  ['an expectation that nobody meets', post('Expect: 200-maybe\r\nContent-Length: 3\r\n', 'abc'), 417],
  ['a path with half an escape', request('GET /things/%2'), 400],
  ['a path that is no UTF-8', request('GET /things/%ff'), 400],
  ['S10: a path with a surrogate', request('GET /things/%ED%A0%80'), 400],
  ['a path with an overlong character', request('GET /things/%C0%AF'), 400],
  ['a path beyond Unicode', request('GET /things/%F4%90%80%80'), 400],
  ['a path of raw bytes', Buffer.from(request('GET /things/é')), 400],
  ['a path without its slash', request('GET things/a'), 400],
  ['J19: a query that is no UTF-8', request('GET /things/a?after=%ff'), 400],
  ['J19: a query with half an escape', request('GET /things/a?%zz=1'), 400],
  ['J19: a query with a surrogate', request('GET /things/a?a=%ED%A0%80'), 400],
  ['a segment that is too long', request(`GET /things/${'x'.repeat(4097)}`), 414],
  ['a path that is too long', request(`GET /things/${'x'.repeat(20_000)}`), 431],
  ['too many headers', request('GET /things/a', 'A: b\r\n'.repeat(4000)), 431],
  ['an unknown path', request('GET /nothing'), 404],
  ['an unknown path over HTTP/1.0', 'GET /nothing HTTP/1.0\r\n\r\n', 404],
  ['the server itself', request('OPTIONS *'), 404],
  ['HTTP/0.9', 'GET /things/a\r\n\r\n', 505],
  ['HTTP/2 by name', 'GET /things/a HTTP/2.0\r\nHost: x\r\n\r\n', 505],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ['TLS', Buffer.from([0x16, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3, 13, 10, 13, 10]), 400],
  ['no HTTP at all', 'hello\r\n\r\n', 400],
  ['a known path with another method', request('PROPFIND /things/a'), 405],
  ['RLY-1: a known path of an absolute URL with another method', request('PROPFIND http://x/things/a?b'), 405],
  ['RLY-1: a known path in escapes with another method', request('PROPFIND /%74hing%73/%2E'), 405],
  ['a method in small letters', request('get /things/a'), 400],
  ['an unknown method', request('BREW /things/a'), 400],
  ['a tunnel', request('CONNECT x:1'), 400],
  ['NUL in a header', request('GET /things/a', 'X: a\0b\r\n'), 400],
  ['lines without CR', 'GET /things/a HTTP/1.1\nHost: x\n\n', 400],
  ['a space before a colon', request('GET /things/a', 'X : a\r\n'), 400],
  ['a folded header', request('GET /things/a', 'X: a\r\n b\r\n'), 400],
  ...['abc', '-1', '+3', '', '3, 3', '3.0', '0x3', '9'.repeat(30)].map(
    (length) => [`H8: Content-Length "${length}"`, sized(length), 400] as const,
  ),
  ['two lengths', post('Content-Length: 3\r\nContent-Length: 4\r\n', 'abc'), 400],
  ['a length twice', post('Content-Length: 3\r\nContent-Length: 3\r\n', 'abc'), 400],
  ['a length and chunks', post('Content-Length: 3\r\nTransfer-Encoding: chunked\r\n', ABC), 400],
  ['a length above the limit', sized('101'), 413],
  ['chunks above the limit', chunked(`65\r\n${'x'.repeat(101)}\r\n0\r\n\r\n`), 413],
  ['a chunk that is longer than it says', chunked('3\r\nabcd\r\n0\r\n\r\n'), 400],
  ['a chunk whose size is no number', chunked('zz\r\nabc\r\n0\r\n\r\n'), 400],
  ['a chunk whose size overflows', chunked(`${'f'.repeat(17)}\r\nabc`), 400],
  ['a chunk with too much beside its size', chunked(`3;${'x'.repeat(20_000)}\r\nabc\r\n0\r\n\r\n`), 413],
  ['chunks that are compressed', chunked(ABC, 'gzip, chunked'), 415],
  ['chunks of an unknown coding', chunked(ABC, 'xchunked'), 400],
  ...['a', ';', 'a/b/c', 'application/json, text/plain'].map(
    (type) =>
      [`H7: the content type "${type}"`, post(`Content-Type: ${type}\r\nContent-Length: 3\r\n`, 'abc'), 415] as const,
  ),
];

// kills: http-server.ts: requireHostHeader: false => requireHostHeader: true
test.each(REFUSED)('OPS-6: %s is refused in our words, as not done', async (_what, text, status) => {
  const answer = await server.talk(text);
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(answer).toMatch(/^tidemark-outcome: not-done\r$/im);
  expect(answer).toMatch(/^x-request-id: \S+\r$/im);
  expect(answer).toMatch(/^connection: close\r$/im);
  expect(JSON.parse(bodyIn(answer))).toEqual({ error: expect.stringMatching(/^.{5,100}$/) });
});

test.each([
  ['without Host over HTTP/1.0', 'GET /things/a HTTP/1.0\r\n\r\n'],
  ['of an absolute URL', request('GET http://x/things/a')],
  ['of an absolute URL of TLS', request('GET HTTPS://x:1/%74hing%73/%61?b=%61')],
  ['that would rather speak another protocol', request('GET /things/a', 'Upgrade: websocket\r\n')],
  ['with empty lines before it', `\r\n\r\n${request('GET /things/a')}`],
  ['with a body that nobody asked for', request('GET /things/a', 'Content-Length: 3\r\n', 'abc')],
  ['with names of prototypes in its query', request('GET /things/a?__proto__=1&constructor=2&=&&')],
])('a request %s is answered', async (_what, text) => {
  const answer = await server.talk(text);
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  expect(bodyIn(answer)).toBe('{"id":"a"}');
});

test('a body in chunks may end in trailers', async () => {
  const trailed = chunked('3\r\nabc\r\n0\r\nX-A: 1\r\n\r\n');
  expect(bodyIn(await server.talk(trailed))).toBe('3');
});

test('a body is asked for only when it is wanted', async () => {
  const wanted = server.connect();
  wanted.write(post('Expect: 100-continue\r\nContent-Length: 3\r\n'));
  await wanted.until(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
  wanted.write('abc');
  expect(bodyIn(await wanted.all())).toBe('3');
  for (const [line, length, status] of [
    ['POST /things/a', 101, 413],
    ['POST /nothing', 3, 404],
  ]) {
    const answer = await server.talk(request(String(line), `Expect: 100-continue\r\nContent-Length: ${length}\r\n`));
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  }
});

// kills: http-server.ts: if (traffic.whenNothingIsOwed(socket, () => socket.destroySoon())) return; => traffic.requests;
test('OPS-6: what is no request does not answer the request before it, which may have done its work', async () => {
  const client = server.connect();
  client.write(`POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcBREW nonsense\r\n\r\n`);
  await server.waiting(1);
  server.finish();
  const answer = await client.all();
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  expect(bodyIn(answer)).toBe('3');
});
