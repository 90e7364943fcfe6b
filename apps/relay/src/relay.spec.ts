import 'reflect-metadata';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Fault, PUSH_BODY_BYTES_MAX } from '@tidemark/libs-kernel';
import { ManualTime } from '@tidemark/libs-kernel/testing';
import type { IndexedOpStore } from '@tidemark/libs-op-store-contract';
import {
  MemoryOpStore,
  MemoryPrefixRegistry,
  MemoryPresenceBoard,
  anOp,
} from '@tidemark/libs-op-store-contract/testing';
import { MachinesService, PushService, StreamWriter } from '@tidemark/libs-relay';
import { Metrics, createHttp, createLog } from '@tidemark/libs-service-kit';
import { encodePush } from '@tidemark/libs-wire';
import { AppModule } from './app.module.ts';
import { relay } from './relay.ts';
import { specTail } from './spec-tail.ts';

let time: ManualTime;
let opStore: IndexedOpStore;
let app: NestFastifyApplication;
let warnings: object[];

beforeEach(() => start(new MemoryOpStore()));
afterEach(() => app.close());

async function start(store: IndexedOpStore): Promise<void> {
  time = new ManualTime(1_790_000_000_000);
  opStore = store;
  warnings = [];
  const bounds = { deadlineMs: 20_000, pushesMax: 100, bytesMax: 100 * PUSH_BODY_BYTES_MAX };
  const quiet = { round: () => {}, queued: () => {}, late: () => {} };
  const writer = new StreamWriter({ opStore, clock: time, sleeper: time, metrics: quiet, ...bounds });
  const module = AppModule.create({
    opStore,
    push: new PushService(opStore, writer),
    pull: specTail({ opStore, time }).tail,
    registry: new MemoryPrefixRegistry(),
    machines: new MachinesService(new MemoryPresenceBoard(), time),
    intake: null,
    deadLetters: null,
    stopping: new AbortController().signal,
    log: { warn: (fields: object) => void warnings.push(fields) },
  });
  const parts = {
    log: createLog('relay', 'silent'),
    metrics: new Metrics('relay'),
    clock: time,
    stopping: new AbortController().signal,
  };
  app = await createHttp(module, relay.http, parts);
  await app.listen(0, '127.0.0.1');
}

const JSON_HEADERS = { 'content-type': 'application/json' };
const request = async (path: string, init: RequestInit = {}) => fetch(`${await app.getUrl()}${path}`, init);
const post = (path: string, body: string, headers: Record<string, string> = JSON_HEADERS) =>
  request(path, { method: 'POST', body, headers });
const push = (stream: string, ...ops: Parameters<typeof anOp>[0][]) =>
  post(`/streams/${stream}/ops`, encodePush(ops.map((op) => anOp(op))));
const pull = async (stream: string, query = '') => (await request(`/streams/${stream}/ops${query}`)).text();
const idsIn = (page: string) => (JSON.parse(page) as { ops: { op_id: string }[] }).ops.map(({ op_id }) => op_id);

const WIRE_OP =
  '{"envelope_version":1,"op_id":"01JB2Q6T5V0Y8ZC3N4M9K7H2XA","lamport":41,"site":7203685477580712345,"target_kind":"item",' +
  '"target_id":"q7w2.k3f9","field":"title","op_type":"set","value":"Order flour","author":"mira",' +
  '"wall_clock":"2026-10-12T08:15:00Z","key_id":"ed25519:AbC","sig":"mQ"}';

test('RLY-1: pushed ops come back in order, with the cursor behind the last one', async () => {
  const answer = await push('s', { opId: 'a' }, { opId: 'b' });
  expect(answer.status).toBe(200);
  expect(await answer.text()).toBe('{"appended":2}');
  expect(answer.headers.get('tidemark-seq')).toBe('2');
  expect(idsIn(await pull('s', '?since=0&limit=2'))).toEqual(['a', 'b']);
  expect(await pull('s', '?since=2')).toBe('{"ops":[],"next":2}');
});

test('RLY-1, RLY-2: a wire op with a 63-bit site, a signature and unknown fields is served as it came', async () => {
  expect((await post('/streams/s/ops', `{"ops":[${WIRE_OP}]}`)).status).toBe(200);
  expect(await pull('s')).toBe(`{"ops":[${WIRE_OP}],"next":1}`);
});

test('RLY-2: an unknown shape, version 999 and the ends of the 64-bit range survive', async () => {
  const op = WIRE_OP.replace('"set"', '"warp"').replace(':1,', ':999,').replace('41', '-9223372036854775808');
  const extreme = op.replace('7203685477580712345', '9223372036854775807').replace('"sig":"mQ"', '"sig":7,"x":1.0');
  await post('/streams/s/ops', `{"ops":[${extreme}]}`);
  expect(await pull('s')).toBe(`{"ops":[${extreme}],"next":1}`);
});

test('RLY-5: a repeated push stores nothing, and answers its old highest seq', async () => {
  await push('s', { opId: 'a' }, { opId: 'b' });
  await push('s', { opId: 'c' });
  const again = await push('s', { opId: 'a' }, { opId: 'b' });
  expect(await again.text()).toBe('{"appended":2}');
  expect(again.headers.get('tidemark-seq')).toBe('2');
  expect(idsIn(await pull('s'))).toEqual(['a', 'b', 'c']);
});

test('RLY-1: 1,000 ops are taken, 1,001 are 413 and nothing is stored', async () => {
  const ops = (n: number) => Array.from({ length: n }, (_, i) => ({ opId: `op-${i}` }));
  expect((await push('full', ...ops(1000))).status).toBe(200);
  const refused = await push('over', ...ops(1001));
  expect(refused.status).toBe(413);
  expect(refused.headers.get('tidemark-outcome')).toBe('not-done');
  expect(await pull('over')).toBe('{"ops":[],"next":0}');
});

test('RLY-1: a body of exactly 8 MiB is taken, one byte more is 413', async () => {
  const frame = encodePush([anOp({ value: '' })]);
  const body = (bytes: number) => encodePush([anOp({ value: 'x'.repeat(bytes - frame.length) })]);
  expect((await post('/streams/s/ops', body(PUSH_BODY_BYTES_MAX))).status).toBe(200);
  expect((await post('/streams/s/ops', body(PUSH_BODY_BYTES_MAX + 1))).status).toBe(413);
});

test.each([
  ['{"ops":[', 400],
  ['', 400],
  ['{"ops":[]} x', 400],
  ['{"ops":[{"op_id":"\\ud800"}]}', 400],
  ['[]', 422],
  ['{}', 422],
  ['{"ops":{}}', 422],
  ['{"ops":[1]}', 422],
  [`{"ops":[${WIRE_OP.replace('41', '"41"')}]}`, 422],
  [`{"ops":[${WIRE_OP.replace('41', '41.0')}]}`, 422],
  [`{"ops":[${WIRE_OP.replace('41', '9223372036854775808')}]}`, 422],
  [`{"ops":[${WIRE_OP.replace('"author":"mira",', '')}]}`, 422],
  [`{"ops":[${WIRE_OP.replace('"author":"mira",', '"author":"a","author":"b",')}]}`, 422],
  [`{"ops":[${WIRE_OP.replace('{', '{"domain":null,')}]}`, 422],
])('RLY-1: push body %s is refused with %i, with a text, and stores nothing', async (body, status) => {
  const answer = await post('/streams/s/ops', body);
  expect(answer.status).toBe(status);
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain/);
  expect((await answer.text()).length).toBeGreaterThan(5);
  expect(answer.headers.get('tidemark-outcome')).toBe('not-done');
  expect(await pull('s')).toBe('{"ops":[],"next":0}');
});

test('H7: a POST needs a JSON content type; spaces, case and parameters do not get around it', async () => {
  const typed = (type: string) => post('/streams/s/ops', '{"ops":[]}', { 'content-type': type });
  for (const good of ['application/json', 'application/JSON; charset=utf-8', 'application/vnd.x+json']) {
    expect((await typed(good)).status).toBe(200);
  }
  for (const bad of ['text/plain', 'application/x-ndjson', 'application/jsonx'])
    expect((await typed(bad)).status).toBe(415);
});

test('a compressed push is refused in the words of the relay, which are text', async () => {
  const answer = await post('/streams/s/ops', '{"ops":[]}', { ...JSON_HEADERS, 'content-encoding': 'gzip' });
  expect([answer.status, answer.headers.get('accept-encoding')]).toEqual([415, 'identity']);
  expect(await answer.text()).toMatch(/^Content-Encoding "gzip" is not supported/);
});

test('RLY-1: cursors and limits: negative, zero, clamped, malformed, repeated', async () => {
  await push('s', { opId: 'a' });
  expect(await pull('s', '?since=-5')).toMatch(/"next":1\}$/);
  expect(await pull('empty', '?since=-5')).toBe('{"ops":[],"next":-5}');
  expect(await pull('s', '?limit=0&since=0')).toBe('{"ops":[],"next":0}');
  expect(idsIn(await pull('s', '?limit=999999'))).toEqual(['a']);
  for (const query of [
    '?limit=-1',
    '?limit=x',
    '?since=1.5',
    '?since=',
    '?since=1&since=2',
    '?since=9223372036854775808',
  ]) {
    expect((await request(`/streams/s/ops${query}`)).status).toBe(400);
  }
});

test('RLY-1: streams are apart, and a percent-encoded slash belongs to the id', async () => {
  await push('nxs%2Fone', { opId: 'a' });
  await push('two', { opId: 'b' });
  expect(await opStore.head('nxs/one')).toBe(1n);
  expect(idsIn(await pull('two'))).toEqual(['b']);
});

test('RLY-1: other paths are 404, other methods 405, both without a body', async () => {
  for (const path of ['/', '/streams/s', '/streams//ops', '/streams/s/ops/', '/STREAMS/s/ops']) {
    const answer = await request(path);
    expect([path, answer.status, await answer.text()]).toEqual([path, 404, '']);
  }
  const wrong = await request('/streams/s/ops', { method: 'DELETE' });
  expect(wrong.status).toBe(405);
  expect(wrong.headers.get('allow')).toBe('GET, HEAD, POST');
});

test('RLY-15: prefixes are registered once, and reassigned when taken', async () => {
  const register = (prefix: string, uuid: string) =>
    post('/streams/s/register', JSON.stringify({ prefix, replica_uuid: uuid }));
  expect(await (await register('aaaa', 'uuid-A')).text()).toBe('{"outcome":"registered"}');
  expect(await (await register('aaaa', 'uuid-B')).text()).toBe('{"outcome":"reassigned","new_prefix":"d7rm"}');
  expect(await (await register('bbbb', 'uuid-A')).text()).toBe('{"outcome":"reassigned","new_prefix":"aaaa"}');
  expect((await post('/streams/s/register', '{"prefix":"x"}')).status).toBe(422);
});

test('RLY-15: a machine that said hello is listed with its age until 30 days have passed', async () => {
  const hello = '{"machine_id":"m1","name":"Mac mini","interval_secs":300,"more":1}';
  expect((await post('/streams/s/machines', hello)).status).toBe(204);
  time.advance(42_000);
  const list = async () => (await request('/streams/s/machines')).text();
  expect(await list()).toBe(
    '{"machines":[{"machine_id":"m1","name":"Mac mini","last_seen":1790000000,"age_secs":42,"interval_secs":300}],"truncated":false}',
  );
  time.advance(2_592_000_000 - 42_000);
  expect(await list()).toContain('"m1"');
  time.advance(1000);
  expect(await list()).toBe('{"machines":[],"truncated":false}');
  expect(await pull('s')).toBe('{"ops":[],"next":0}');
});

test('RLY-15: an announcement outside its bounds is 400 in words for a person, a large one 413', async () => {
  const announce = (body: string) => post('/streams/s/machines', body);
  const bad = await announce('{"machine_id":"has space","name":"x","interval_secs":300}');
  expect(bad.status).toBe(400);
  expect(await bad.text()).toContain('machine_id');
  expect((await announce('{"machine_id":"m","name":"x","interval_secs":0}')).status).toBe(400);
  expect((await announce('{"machine_id":"m","name":"x","interval_secs":"300"}')).status).toBe(422);
  expect((await announce(`{"machine_id":"m","name":"x","interval_secs":1,"pad":"${'x'.repeat(65_536)}"}`)).status).toBe(
    413,
  );
  expect((await announce(`{"machine_id":"m","name":"x","interval_secs":1,"pad":"${'x'.repeat(3072)}"}`)).status).toBe(
    204,
  );
});

test('RLY-19: operators see the streams with their heads, page by page', async () => {
  await push('b', { opId: '1' });
  await push('a', { opId: '1' }, { opId: '2' });
  const list = async (query: string) => (await request(`/v1/streams${query}`)).text();
  expect(await list('?limit=1')).toBe('{"streams":[{"stream":"a","head":2}],"next":"a"}');
  expect(await list('?limit=2&after=a')).toBe('{"streams":[{"stream":"b","head":1}],"next":null}');
  expect(await (await request('/v1/streams/a')).text()).toBe('{"stream":"a","head":2,"burned":0}');
});

test('RLY-19, RLY-3: an operator erases a stream, on record; its cursors stay right and it goes on above its head', async () => {
  await push('a%2Fb', { opId: '1' }, { opId: '2' });
  const erased = await request('/v1/streams/a%2Fb', { method: 'DELETE' });
  expect([erased.status, await erased.text()]).toEqual([200, '{"stream":"a/b","erased":2,"head":2}']);
  expect(warnings).toMatchObject([{ stream: 'a/b' }, { stream: 'a/b', erased: '2' }]);
  expect(await pull('a%2Fb')).toBe('{"ops":[],"next":0}');
  expect(await (await request('/v1/streams/a%2Fb')).text()).toBe('{"stream":"a/b","head":2,"burned":2}');
  expect((await push('a%2Fb', { opId: '3' })).headers.get('tidemark-seq')).toBe('3');
  expect(idsIn(await pull('a%2Fb', '?since=2'))).toEqual(['3']);
});

test('OPS-6, RLY-19: an erasure of which the end is not known is on record, and one that was done is not told as not done', async () => {
  await app.close();
  const failing = new MemoryOpStore();
  await start(failing);
  await push('s', { opId: 'a' });
  const erase = failing.erase.bind(failing);
  failing.erase = () => Promise.reject(new Fault('unavailable', 'gone', { outcome: 'partly' }));
  const partly = await request('/v1/streams/s', { method: 'DELETE' });
  expect([partly.status, partly.headers.get('tidemark-outcome')]).toEqual([503, 'partly']);
  expect(warnings).toMatchObject([{ stream: 's' }]);
  failing.erase = erase;
  failing.head = () => Promise.reject(new Fault('unavailable', 'gone'));
  const done = await request('/v1/streams/s', { method: 'DELETE' });
  expect([done.status, done.headers.get('tidemark-outcome')]).toEqual([503, 'done']);
  expect(warnings.at(-1)).toMatchObject({ stream: 's', erased: '1' });
});

test('RLY-12: an op that the store can never take is refused by name; what came before it in the push stays', async () => {
  await app.close();
  const refusing = new MemoryOpStore();
  refusing.refusal = ({ opId }) => (opId === 'big' ? new Fault('too_large', 'op "big" is too large') : null);
  await start(refusing);
  const refused = await push('s', { opId: 'a' }, { opId: 'big' }, { opId: 'b' });
  expect([refused.status, await refused.text()]).toEqual([413, 'op "big" is too large']);
  expect(refused.headers.get('tidemark-outcome')).toBe('partly');
  expect(idsIn(await pull('s'))).toEqual(['a']);
  expect((await push('s', { opId: 'big' })).headers.get('tidemark-outcome')).toBe('not-done');
});

test('RLY-1, OPS-6: a store fault is a bare 500, a busy store 503 with Retry-After', async () => {
  const failing = (fault: Fault) =>
    new Proxy(new MemoryOpStore(), {
      get: (store, name, self) => (name === 'append' ? () => Promise.reject(fault) : Reflect.get(store, name, self)),
    });
  await app.close();
  await start(failing(new Fault('internal', 'secret detail')));
  const broken = await push('s', { opId: 'a' });
  expect([broken.status, await broken.text(), broken.headers.get('tidemark-outcome')]).toEqual([500, '', 'unknown']);
  await app.close();
  await start(failing(new Fault('unavailable', 'the database is busy')));
  const busy = await push('s', { opId: 'a' });
  expect([busy.status, busy.headers.get('retry-after'), busy.headers.get('tidemark-outcome')]).toEqual([
    503,
    '5',
    'not-done',
  ]);
});
