import { PRESENCE_BODY_BYTES_MAX, PUSH_BODY_BYTES_MAX } from '@tidemark/libs-kernel';
import { anOp } from '@tidemark/libs-op-store-contract/testing';
import { encodePush } from '@tidemark/libs-wire';
import { type SpecHttp, startHttp } from './spec-http.ts';

let relay: SpecHttp;
beforeEach(async () => (relay = await startHttp()));
afterEach(() => relay.close());

interface List {
  readonly machines: {
    readonly machine_id: string;
    readonly name: string;
    readonly last_seen: number;
    readonly age_secs: number;
  }[];
  readonly truncated: boolean;
}
const list = async (stream = 's') => JSON.parse((await relay.get(`/streams/${stream}/machines`)).text) as List;
const announce = (hello: object, stream = 's') =>
  relay.post(
    `/streams/${stream}/machines`,
    JSON.stringify({ machine_id: 'm', name: 'Mac mini', interval_secs: 300, ...hello }),
  );
const NOBODY = { machines: [], truncated: false };

test.each([
  ['an empty machine_id', { machine_id: '' }, 'machine_id'],
  ['a machine_id of 65 bytes', { machine_id: 'x'.repeat(65) }, 'machine_id'],
  ['a machine_id with a space', { machine_id: 'has space' }, 'machine_id'],
  ['a machine_id beyond ASCII', { machine_id: 'é' }, 'machine_id'],
  ['a machine_id with DEL', { machine_id: 'a\u007f' }, 'machine_id'],
  ['an empty name', { name: '' }, 'name'],
  ['a blank name', { name: '   ' }, 'name'],
  ['a name of 65 characters', { name: 'é'.repeat(65) }, 'name'],
  ['a name with U+202E', { name: 'a\u202eb' }, 'name'],
  ['a name with U+00A0', { name: 'a\u00a0b' }, 'name'],
  ['a name with U+2028', { name: 'a\u2028b' }, 'name'],
  ['a name with a tab', { name: 'a\tb' }, 'name'],
  ['a name with NUL', { name: 'a\0b' }, 'name'],
  ['a name with U+FEFF', { name: '\ufeffa' }, 'name'],
  ['an interval of 0', { interval_secs: 0 }, 'interval_secs'],
  ['an interval of 3601', { interval_secs: 3601 }, 'interval_secs'],
  ['an interval of 2^53 + 1', { interval_secs: 2 ** 53 }, 'interval_secs'],
  ['several faults: the first counts', { machine_id: '', name: '', interval_secs: 0 }, 'machine_id'],
])('RLY-15: %s is 400 with one sentence that names it, and nothing is noted', async (_what, hello, names) => {
  const told = await announce(hello);
  expect([told.status, told.headers['content-type'], told.headers['tidemark-outcome']]).toEqual([
    400,
    'text/plain; charset=utf-8',
    'not-done',
  ]);
  expect(told.text).toMatch(new RegExp(`^${names} must [^.]+\\.$`));
  expect(await list()).toEqual(NOBODY);
});

test.each([
  ['a negative interval', '{"machine_id":"m","name":"n","interval_secs":-1}'],
  ['a fraction', '{"machine_id":"m","name":"n","interval_secs":1.0}'],
  ['an exponent', '{"machine_id":"m","name":"n","interval_secs":1e2}'],
  ['a text', '{"machine_id":"m","name":"n","interval_secs":"1"}'],
  ['an interval above 64 bits', '{"machine_id":"m","name":"n","interval_secs":18446744073709551616}'],
  ['a missing name', '{"machine_id":"m","interval_secs":1}'],
  ['a name that is null', '{"machine_id":"m","name":null,"interval_secs":1}'],
  ['a name given twice', '{"machine_id":"m","name":"n","name":"n","interval_secs":1}'],
  ['no object', '[]'],
])('RLY-15: an announcement with %s is 422', async (_what, body) => {
  expect((await relay.post('/streams/s/machines', body)).status).toBe(422);
  expect(await list()).toEqual(NOBODY);
});

test('RLY-15: the edges of the rules are inside', async () => {
  for (const hello of [
    { machine_id: 'x'.repeat(64) },
    { machine_id: '!~' },
    { name: 'é'.repeat(64) },
    { name: '💩'.repeat(64) },
    { name: 'Carsten’s Mac mini (dev)' },
    { name: '机' },
    { interval_secs: 1 },
    { interval_secs: 3600 },
    { more: { a: [1] } },
  ]) {
    const { status, text, headers } = await announce(hello);
    expect([hello, status, text, headers['content-type']]).toEqual([hello, 204, '', undefined]);
  }
});

// kills: relay.ts: PRESENCE_BODY_BYTES_MAX }, => 2 * PRESENCE_BODY_BYTES_MAX },
test('OPS-4, RLY-1: an announcement of 4096 bytes is read, a longer one is 413 unread; a registration may have 8 MiB', async () => {
  const padded = (bytes: number) => {
    const frame = '{"machine_id":"m","name":"n","interval_secs":1,"pad":""}';
    return frame.replace('""}', `"${'x'.repeat(bytes - frame.length)}"}`);
  };
  expect((await relay.post('/streams/s/machines', padded(PRESENCE_BODY_BYTES_MAX))).status).toBe(204);
  for (const bytes of [PRESENCE_BODY_BYTES_MAX + 1, 65_536]) {
    const told = await relay.post('/streams/t/machines', padded(bytes));
    expect([told.status, told.text]).toEqual([413, 'request body exceeded 4096 bytes']);
  }
  expect(await list('t')).toEqual(NOBODY);
  const register = (bytes: number) =>
    relay.post('/streams/s/register', `{"prefix":"a","replica_uuid":"b"}${' '.repeat(bytes - 33)}`);
  expect((await register(PUSH_BODY_BYTES_MAX)).status).toBe(200);
  expect((await register(PUSH_BODY_BYTES_MAX + 1)).status).toBe(413);
});

test('RLY-15: of 101 machines the latest 100 are listed, the latest first, and that there are more', async () => {
  for (let i = 0; i < 101; i++) {
    expect((await announce({ machine_id: `m${i}` })).status).toBe(204);
    relay.time.advance(1000);
  }
  const { machines, truncated } = await list();
  expect(machines.map(({ machine_id }) => machine_id)).toEqual(Array.from({ length: 100 }, (_, i) => `m${100 - i}`));
  expect([machines[0]?.age_secs, machines[99]?.age_secs, truncated]).toEqual([1, 100, true]);
});

test('RLY-15: equal times are in the order of bytes; an announcement again moves up and is one row', async () => {
  for (const id of ['ma', 'Mb', 'z9']) await announce({ machine_id: id });
  expect((await list()).machines.map(({ machine_id }) => machine_id)).toEqual(['Mb', 'ma', 'z9']);
  relay.time.advance(5000);
  await announce({ machine_id: 'z9', name: 'new' });
  expect((await list()).machines.map(({ machine_id, name }) => `${machine_id} ${name}`)).toEqual([
    'z9 new',
    'Mb Mac mini',
    'ma Mac mini',
  ]);
  expect(await list('other')).toEqual(NOBODY);
});

test('RLY-15: a stream id with a slash in it has machines of its own', async () => {
  expect((await announce({}, 'nxs%2Fone')).status).toBe(204);
  expect((await list('nxs%2fone')).machines).toHaveLength(1);
  for (const other of ['nxs', 'one', 'nxs%252Fone']) expect(await list(other)).toEqual(NOBODY);
});

test('RLY-15: an announcement moves no cursor and makes no stream', async () => {
  await announce({});
  expect(await relay.pull()).toBe('{"ops":[],"next":0}');
  expect(await relay.stored()).toEqual([]);
});

// kills: app.module.ts: services.machines === null ? [] : [MachinesController] => MachinesController
test('RLY-15: a relay without presence answers 404 there, whatever is sent, and everything else works', async () => {
  const older = await startHttp({ presence: false });
  for (const told of [
    await older.get('/streams/s/machines'),
    await older.post('/streams/s/machines', 'no json'),
    await older.ask('POST', '/streams/s/machines', 'x'.repeat(10_000)),
  ])
    expect([told.status, told.text]).toEqual([404, '']);
  expect((await older.push(encodePush([anOp()]))).status).toBe(200);
  expect((await older.post('/streams/s/register', '{"prefix":"a","replica_uuid":"b"}')).status).toBe(200);
  await older.close();
});

test('RLY-15: prefixes and replicas are any text: empty, as an emoji, long, or in the shape of a key', async () => {
  const register = async (prefix: string, uuid: string) =>
    JSON.parse(
      (await relay.post('/streams/s/register', JSON.stringify({ prefix, replica_uuid: uuid }))).text,
    ) as object;
  for (const uuid of ['', '💩', 'u'.repeat(4096), 'uuid#aaaa', 'prefix#aaaa', '\0', '__proto__'])
    expect([uuid, await register(uuid, uuid)]).toEqual([uuid, { outcome: 'registered' }]);
  expect(await register('', 'uuid-B')).toEqual({ outcome: 'reassigned', new_prefix: 'd7rm' });
});
