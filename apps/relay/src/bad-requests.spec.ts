import { readFileSync } from 'node:fs';
import { compareUtf8 } from '@tidemark/libs-kernel';
import { sharedData } from '@tidemark/libs-kernel/testing';
import { anOp, someOps } from '@tidemark/libs-op-store-contract/testing';
import { encodePush } from '@tidemark/libs-wire';
import { type SpecHttp, type Told, startHttp } from './spec-http.ts';

jest.setTimeout(120_000);

let relay: SpecHttp;

/** The tests of a group share a relay; those that store something have one of their own. */
const shared = () => {
  beforeAll(async () => (relay = await startHttp()));
  afterEach(async () => expect(await relay.stored()).toEqual([]));
  afterAll(() => relay.close());
};
const own = () => {
  beforeEach(async () => (relay = await startHttp()));
  afterEach(() => relay.close());
};

const PUSH = encodePush([anOp()]);

function expectText({ headers, text }: Told): void {
  expect(headers['content-type']).toBe('text/plain; charset=utf-8');
  expect(headers['tidemark-outcome']).toBe('not-done');
  expect(text).toMatch(/^.{5,200}$/);
}

function expectBare({ headers, text }: Told): void {
  expect(headers['tidemark-outcome']).toBe('not-done');
  expect(text).toBe('');
}

describe('paths that name nothing', () => {
  shared();

  test.each([
    '/',
    '//',
    '/streams',
    '/streams/',
    '/streams/s',
    '/streams/s/',
    '/streams//ops',
    '/streams/s/ops/',
    '/streams/s/ops//',
    '/streams/s//ops',
    '//streams/s/ops',
    '/streams/s/ops/1',
    '/streams/a/b/ops',
    '/STREAMS/s/ops',
    '/Streams/s/ops',
    '/streams/s/Ops',
    '/streams//register',
    '/streams//machines',
    '/streams/s/machine',
    '/streams/s/ops%2F',
    '/streams%2Fs/ops',
    '/v1',
    '/v1/streams/',
  ])('RLY-1: %s is 404 for every method', async (path) => {
    for (const method of ['GET', 'POST', 'DELETE']) {
      const told = await relay.ask(method, path, method === 'POST' ? PUSH : undefined);
      expect([method, told.status]).toEqual([method, 404]);
      if (!path.startsWith('/v1/')) expectBare(told);
    }
  });

  test.each(['%', '%2', '%zz', '%ff', '%ED%A0%80', '%C0%80', 'a%F4%90%80%80'])(
    'S10, RLY-2: the stream %s is no text: 400 on every route, and nothing is stored',
    async (stream) => {
      for (const route of ['ops', 'register', 'machines']) {
        for (const told of [
          await relay.get(`/streams/${stream}/${route}`),
          await relay.post(`/streams/${stream}/${route}`, PUSH),
        ]) {
          expect(told.status).toBe(400);
          expectText(told);
        }
      }
      expect((await relay.get(`/v1/streams/${stream}`)).status).toBe(400);
    },
  );
});

describe('streams', () => {
  own();

  test('SEC-2: a stream id of 4096 characters is one, of 4097 it is 414', async () => {
    expect((await relay.push(PUSH, 'x'.repeat(4096))).status).toBe(200);
    const long = await relay.push(PUSH, 'x'.repeat(4097));
    expect(long.status).toBe(414);
    expectText(long);
    expect(await relay.stored()).toEqual(['x'.repeat(4096)]);
  });

  test('RLY-1: ids of a stream are told apart by every byte, and reach the store decoded once', async () => {
    const ids = {
      's%2Fops': 's/ops',
      'a%2fb': 'a/b',
      'a%252Fb': 'a%2Fb',
      '.': '.',
      '..': '..',
      '%2e%2E%2F..': '../..',
      '%20': ' ',
      'a+b': 'a+b',
      '%00': '\0',
      'a;b=c': 'a;b=c',
      'a:b': 'a:b',
      '*': '*',
      ops: 'ops',
      __proto__: '__proto__',
      constructor: 'constructor',
      '%C3%A9': 'é',
      'e%CC%81': 'e\u0301',
      '%F0%9F%92%A9': '💩',
      '%EF%BF%BF': '\uffff',
      S: 'S',
      s: 's',
    };
    for (const [path, id] of Object.entries(ids)) {
      expect((await relay.push(encodePush([anOp({ opId: id })]), path)).status).toBe(200);
    }
    const sorted = Object.values(ids).sort(compareUtf8);
    expect(await relay.stored()).toEqual(sorted);
    for (const [path, id] of Object.entries(ids)) {
      const { ops } = JSON.parse(await relay.pull(path)) as { ops: { op_id: string }[] };
      expect(ops.map(({ op_id }) => op_id)).toEqual([id]);
      expect(JSON.parse((await relay.get(`/v1/streams/${path}`)).text)).toMatchObject({ stream: id, head: 1 });
    }
    expect(await listed()).toEqual(sorted);
  });

  const strings = sharedData('naughty-strings.json');
  (strings === null ? test.skip : test)('SEC-2: every naughty string may name a stream', async () => {
    const naughty = JSON.parse(readFileSync(strings as string, 'utf8')) as string[];
    const ids = [...new Set(naughty)].filter((id) => id !== '' && id.isWellFormed() && id.length <= 4096);
    for (const id of ids) {
      const told = await relay.push(encodePush([anOp({ opId: id })]), encodeURIComponent(id));
      expect([id, told.status]).toEqual([id, 200]);
    }
    expect(await listed()).toEqual(ids.sort(compareUtf8));
  });

  async function listed(): Promise<string[]> {
    const ids: string[] = [];
    for (let after: string | null = ''; after !== null;) {
      const told = await relay.get(`/v1/streams?limit=50&after=${encodeURIComponent(after)}`);
      const page = JSON.parse(told.text) as { streams: { stream: string }[]; next: string | null };
      ids.push(...page.streams.map(({ stream }) => stream));
      after = page.next;
    }
    return ids;
  }
});

describe('methods and content types', () => {
  shared();

  test.each([
    ['/streams/s/ops', 'GET, HEAD, POST'],
    ['/streams/s/register', 'POST'],
    ['/streams/s/machines', 'GET, HEAD, POST'],
  ])('RLY-1: on %s an unknown method is 405 with Allow: %s', async (path, allow) => {
    const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'];
    for (const method of methods.filter((one) => !allow.split(', ').includes(one))) {
      const told = await relay.ask(method, path, method === 'PUT' ? PUSH : undefined);
      expect([method, told.status, told.headers.allow]).toEqual([method, 405, allow]);
      expectBare(told);
    }
  });

  test('RLY-19: a refusal of a route of operators is JSON, however its path is written', async () => {
    for (const path of ['/v1/streams?limit=0', '/v%31/stream%73?limit=0']) {
      const told = await relay.get(path);
      expect([told.status, JSON.parse(told.text)]).toEqual([400, { error: 'limit: must be at least 1' }]);
    }
  });

  test('RLY-1: a path ends at a #, also for who asks which methods it has', async () => {
    for (const path of ['/streams/a#b/ops', '/streams/a#/ops', '/v1#/streams'])
      expect([path, (await relay.get(path)).status]).toEqual([path, 404]);
  });

  // kills: relay.ts: (?:;.*)?$/i => /i
  test('H7, RLY-1: a content type is JSON or 415, before the body is looked at', async () => {
    const typed = (type?: string, body = '{"ops":[]}') =>
      relay.ask('POST', '/streams/s/ops', body, type === undefined ? {} : { 'content-type': type });
    for (const good of [
      'application/json',
      ' application/JSON ;',
      'Application/Json;charset=utf-8',
      'application/json\t;x',
      'application/json; charset=latin1',
      'application/vnd.api+json',
      'application/merge-patch+json;a=b',
      "application/x!#$%&'*.^_`|~+json",
      'application/a-b+c+json',
    ])
      expect([good, (await typed(good)).status]).toEqual([good, 200]);
    for (const bad of [
      undefined,
      '',
      'json',
      'text/plain',
      'text/json',
      'application/jsonx',
      'application/json x',
      'application/x-ndjson',
      'application/+json',
      'application/x(y+json',
      'application/x/y+json',
      'application/json, text/plain',
      'application/json+xml',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      '*/*',
    ]) {
      for (const body of ['{"ops":[]}', '{', 'x'.repeat(10_000)]) {
        const told = await typed(bad, body);
        expect([bad, told.status]).toEqual([bad, 415]);
        expectText(told);
      }
    }
  });
});

describe('parameters of a pull', () => {
  shared();

  test.each([
    ['', '{"ops":[],"next":0}'],
    ['?', '{"ops":[],"next":0}'],
    ['?since=0', '{"ops":[],"next":0}'],
    ['?since=-0', '{"ops":[],"next":0}'],
    ['?since=007', '{"ops":[],"next":7}'],
    ['?since=%2B7', '{"ops":[],"next":7}'],
    ['?since=%37', '{"ops":[],"next":7}'],
    ['?%73ince=7', '{"ops":[],"next":7}'],
    ['?since=-1', '{"ops":[],"next":-1}'],
    ['?since=9007199254740993', '{"ops":[],"next":9007199254740993}'],
    ['?since=9223372036854775807', '{"ops":[],"next":9223372036854775807}'],
    ['?since=-9223372036854775808', '{"ops":[],"next":-9223372036854775808}'],
    ['?limit=0&since=7', '{"ops":[],"next":7}'],
    ['?limit=18446744073709551615', '{"ops":[],"next":0}'],
    ['?x=1&x=2&Since=4&SINCE=5&since=7&y', '{"ops":[],"next":7}'],
    ['?__proto__=1&constructor=2&since=7', '{"ops":[],"next":7}'],
  ])('RLY-1, RLY-2: an empty stream is pulled with "%s" as %s', async (query, text) => {
    const told = await relay.get(`/streams/s/ops${query}`);
    expect([told.status, told.text, told.headers['content-type']]).toEqual([200, text, 'application/json']);
  });

  test.each([
    'since=',
    'since',
    'since=1.5',
    'since=1.0',
    'since=1e3',
    'since=0x1',
    'since=x',
    'since=null',
    'since=%201',
    'since=1%20',
    'since=+1',
    'since=--1',
    'limit=18446744073709551616',
    'since=1,2',
    'since=1%00',
    'since=%D9%A1',
    'since=9223372036854775808',
    'since=-9223372036854775809',
    `since=${'9'.repeat(10_000)}`,
    'since=1&since=1',
    'since=1&%73ince=1',
    'limit=',
    'limit',
    'limit=-1',
    'limit=-0',
    'limit=1.5',
    'limit=1e1',
    'limit=x',
    'limit=%201',
    'limit=5&limit=5',
    'wait=x',
    'wait=-1',
    'wait=0&wait=0',
    'since=%ff',
    'x=%zz',
  ])('RLY-1, RLY-2: a pull with %s is 400', async (query) => {
    const told = await relay.get(`/streams/s/ops?${query}`);
    expect(told.status).toBe(400);
    expectText(told);
  });

  test('a list that is asked for nothing is 400: its empty page would look like the last one', async () => {
    for (const query of ['limit=0', 'limit=x', 'after=a&after=b', 'after=%ff']) {
      const told = await relay.get(`/v1/streams?${query}`);
      expect([query, told.status, told.headers['content-type']]).toEqual([query, 400, 'application/json']);
    }
  });
});

describe('pulls of something', () => {
  own();

  test('RLY-1: HEAD answers what GET answers, without the body', async () => {
    await relay.push(PUSH);
    for (const path of ['/streams/s/ops', '/streams/s/ops?since=9', '/streams/s/machines', '/v1/streams']) {
      const [get, head] = [await relay.get(path), await relay.ask('HEAD', path)];
      expect([head.status, head.text]).toEqual([200, '']);
      for (const name of ['content-type', 'content-length', 'cache-control'])
        expect([path, name, head.headers[name]]).toEqual([path, name, get.headers[name]]);
    }
    expect((await relay.ask('HEAD', '/streams/s/ops?limit=x')).status).toBe(400);
    expect((await relay.ask('HEAD', '/nothing')).status).toBe(404);
  });

  test('RLY-1: from any cursor below the first seq a stream is read from its start', async () => {
    await relay.push(PUSH);
    for (const since of ['-9223372036854775808', '-1', '0'])
      expect(await relay.pull('s', `?since=${since}`)).toMatch(/"op_id":"op-1".*"next":1\}$/);
  });

  test('RLY-1: a page has 500 ops when nobody says how many, and never above 10,000', async () => {
    await relay.opStore.append('s', someOps(10_001));
    for (const [query, count] of [
      ['', 500],
      ['?limit=10001', 10_000],
      ['?limit=18446744073709551615', 10_000],
    ] as const) {
      const page = JSON.parse(await relay.pull('s', query)) as { ops: object[]; next: number };
      expect([query, page.ops.length, page.next]).toEqual([query, count, count]);
    }
  });
});
