import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { sharedData } from '@tidemark/libs-kernel/testing';
import { IngestWorld, NDJSON, type Post, type Told } from './spec-world.ts';

const ENDS = ['succeeded', 'failed', 'duplicates'] as const;

/** Sends the body to a fresh world: what it heard, and the texts that are in the queue afterwards. */
async function send(body: string | Uint8Array, post?: Post): Promise<Told & { readonly queued: string[] }> {
  const world = new IngestWorld();
  const told = await world.post(body, post);
  return { ...told, queued: (await world.queued()).map(({ data }) => data) };
}

/** A defined answer: a 4xx with a reason and nothing queued, or a success whose counts agree with the queue. */
function expectDefined({ status, headers, body, queued }: Told & { readonly queued: string[] }): void {
  if (status !== 200) {
    expect([400, 413]).toContain(status);
    expect(body).toEqual({ error: expect.any(String) });
    expect(headers).toEqual({ 'Tidemark-Outcome': 'not-done' });
    expect(queued).toEqual([]);
  } else if ('total' in body) {
    expect(ENDS.reduce((sum, end) => sum + body[end], 0)).toBe(body.total);
    expect(body.results).toHaveLength(body.total);
    expect(queued).toHaveLength(body.succeeded);
  } else expect([body, queued]).toEqual([{ ok: true }, [expect.any(String)]]);
}

const SAMPLE = ['{"event_id":"é😀","n":1.50}', '{"event_id":2,"s":"\u2028\\u0041[]{},"}', '{"no":["id",{"x":null}]}'];
const cuts = (body: Uint8Array) => Array.from({ length: body.length }, (_, end) => body.subarray(0, end));

test('ING-11: an array cut at any byte is refused whole and nothing of it is published', async () => {
  const body = Buffer.from(`[${SAMPLE.join(' ,\n')}]`, 'utf8');
  for (const cut of cuts(body)) {
    const told = await send(cut);
    expectDefined(told);
    expect(told.status).toBe(400);
  }
  expect((await send(body)).queued).toEqual(SAMPLE);
});

test('ING-11: an object cut at any byte is refused', async () => {
  for (const text of SAMPLE) {
    for (const cut of cuts(Buffer.from(text, 'utf8'))) expect((await send(cut)).status).toBe(400);
    expect((await send(text)).queued).toEqual([text]);
  }
});

test('ING-11: NDJSON cut at any byte stores its whole lines and fails the torn one', async () => {
  const body = Buffer.from(SAMPLE.join('\n'), 'utf8');
  for (const cut of cuts(body)) {
    const told = await send(cut, NDJSON);
    expectDefined(told);
    if (cut.length === 0) continue;
    const whole = SAMPLE.filter((_, i) => Buffer.from(SAMPLE.slice(0, i + 1).join('\n'), 'utf8').length <= cut.length);
    const torn = cut.length > Buffer.from(whole.join('\n'), 'utf8').length + (whole.length === 0 ? 0 : 1);
    expect(told.queued).toEqual(whole);
    expect(told.body).toMatchObject({ succeeded: whole.length, failed: torn ? 1 : 0 });
  }
});

test('ING-11: one byte of a body turned into any other gives a defined answer', async () => {
  const body = Buffer.from(`[${SAMPLE[0]},${SAMPLE[2]}]`, 'utf8');
  for (let at = 0; at < body.length; at++) {
    for (const byte of [0x00, 0x0a, 0x20, 0x22, 0x2c, 0x5b, 0x5d, 0x7b, 0x7d, 0x5c, 0x80, 0xff]) {
      const changed = Uint8Array.from(body);
      changed[at] = byte;
      expectDefined(await send(changed));
      expectDefined(await send(changed, NDJSON));
    }
  }
});

const suite = sharedData('json-test-suite/test_parsing');
const files = suite === null ? [] : readdirSync(suite);
const withSuite = suite === null ? test.skip : test;
const read = (file: string) => readFileSync(path.join(suite!, file));
const isJson = (file: string) => file.startsWith('y_');
const isObject = (bytes: Uint8Array) => bytes.find((byte) => ![9, 10, 13, 32].includes(byte)) === 0x7b;
const isContainer = (bytes: Uint8Array) =>
  [0x5b, 0x7b].includes(bytes.find((byte) => ![9, 10, 13, 32].includes(byte)) ?? 0);

withSuite('ING-11: every file of the JSON test suite as a JSON body gives a defined answer', async () => {
  expect(files.length).toBeGreaterThan(300);
  for (const file of files) {
    const bytes = read(file);
    const told = await send(bytes);
    expectDefined(told);
    if (file.startsWith('n_')) expect([file, told.status]).toEqual([file, 400]);
    if (isJson(file)) expect([file, told.status]).toEqual([file, isContainer(bytes) ? 200 : 400]);
  }
});

withSuite(
  'ING-11: every file of the JSON test suite inside a record gives a defined answer and travels as it came',
  async () => {
    for (const file of files) {
      const bytes = read(file);
      const record = Buffer.concat([Buffer.from('{"event_id":"e","v":'), bytes, Buffer.from('}')]);
      const told = await send(record);
      expectDefined(told);
      if (isJson(file)) expect([file, told.queued]).toEqual([file, [record.toString('utf8')]]);
    }
  },
);

withSuite(
  'ING-11: every file of the JSON test suite as an element of an array refuses the array, or fails or is stored alone',
  async () => {
    const around = ['{"event_id":1}', '{"event_id":2}'];
    for (const file of files) {
      const bytes = read(file);
      const told = await send(Buffer.concat([Buffer.from(`[${around[0]},`), bytes, Buffer.from(`,${around[1]}]`)]));
      expectDefined(told);
      if (told.status !== 200) expect([file, told.queued]).toEqual([file, []]);
      else if (told.body.failed === 0) expect([file, told.queued[1]]).toEqual([file, bytes.toString('utf8').trim()]);
      else expect([file, told.body.failed, told.queued]).toEqual([file, 1, around]);
      if (isJson(file)) expect([file, told.status, told.body.failed]).toEqual([file, 200, isObject(bytes) ? 0 : 1]);
    }
  },
);

withSuite('ING-11: every file of the JSON test suite as a line of NDJSON fails or is stored alone', async () => {
  for (const file of files.filter((name) => !name.startsWith('n_'))) {
    const bytes = read(file);
    const told = await send(
      Buffer.concat([Buffer.from('{"event_id":1}\n'), bytes, Buffer.from('\n{"event_id":2}')]),
      NDJSON,
    );
    expectDefined(told);
    expect([file, told.status, told.queued[0], told.queued.at(-1)]).toEqual([
      file,
      200,
      '{"event_id":1}',
      '{"event_id":2}',
    ]);
    const oneLine = !bytes.toString('latin1').trim().includes('\n');
    if (isJson(file) && oneLine && isObject(bytes)) expect([file, told.body.succeeded]).toEqual([file, 3]);
  }
});

withSuite('ING-11: a line that is no JSON fails alone, whichever it is', async () => {
  for (const file of files.filter((name) => name.startsWith('n_'))) {
    // A file of several lines would be several records.
    const bad = Buffer.from(read(file).filter((byte) => byte !== 0x0a));
    const told = await send(
      Buffer.concat([Buffer.from('{"event_id":1}\n'), bad, Buffer.from('\n{"event_id":2}')]),
      NDJSON,
    );
    expectDefined(told);
    expect([file, told.status, told.queued]).toEqual([file, 200, ['{"event_id":1}', '{"event_id":2}']]);
  }
});

const webhooks = sharedData('github-webhooks.ndjson');
(webhooks === null ? test.skip : test)(
  'J8, ING-1: real records travel byte for byte, and the second time all are duplicates',
  async () => {
    const text = readFileSync(webhooks!, 'utf8');
    const lines = text.split('\n').filter((line) => line !== '');
    const world = new IngestWorld();
    expect((await world.post(text, NDJSON)).body).toMatchObject({ total: lines.length, succeeded: lines.length });
    expect((await world.queued()).map(({ data }) => data)).toEqual(lines);
    expect((await world.post(text, NDJSON)).body).toMatchObject({ duplicates: lines.length, succeeded: 0 });
  },
);

test('J7: 100,000 levels of nesting in a body are refused, as an object, an element or a line, and nothing is held up by them', async () => {
  const deep = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  expect(await send(deep)).toMatchObject({ status: 400, queued: [] });
  expect(await send(`[{"event_id":1},${deep}]`)).toMatchObject({ status: 400, queued: [] });
  expect(await send('['.repeat(100_000))).toMatchObject({ status: 400, queued: [] });
  expect(await send(`{"event_id":1}\n${deep}\n{"event_id":2}`, NDJSON)).toMatchObject({
    status: 200,
    body: { succeeded: 2, failed: 1 },
  });
});

test('J14: members called __proto__ and constructor travel as they came by every way in, and touch nothing', async () => {
  const record = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"event_id":"e"}';
  expect((await send(record)).queued).toEqual([record]);
  expect((await send(`[${record}]`)).queued).toEqual([record]);
  expect((await send(`${record}\n`, NDJSON)).queued).toEqual([record]);
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

test('J8, ING-7: neighbours beyond 2^53 are two ids, 1 and "1" one, and an id may be 10 KB long', async () => {
  const long = 'x'.repeat(10_240);
  const ids = [
    '9007199254740992',
    '9007199254740993',
    '1',
    '"1"',
    `"${long}a"`,
    `"${long}b"`,
    `"${long}a"`,
    'null',
    '""',
  ];
  const { body } = await send(ids.map((id) => `{"event_id":${id}}`).join('\n'), NDJSON);
  expect(body.results.map((one: object) => ('ok' in one ? 'ok' : 'duplicate' in one ? 'duplicate' : 'error'))).toEqual([
    'ok',
    'ok',
    'ok',
    'duplicate',
    'ok',
    'ok',
    'duplicate',
    'ok',
    'ok',
  ]);
});

test('J10: event_id given twice is refused as an object, and alone as an element or a line', async () => {
  const twice = '{"event_id":"a","event_id":"b"}';
  expect((await send(twice)).status).toBe(400);
  expect((await send(`[${twice},{"event_id":"c"}]`)).queued).toEqual(['{"event_id":"c"}']);
  expect((await send(`${twice}\n{"event_id":"c"}`, NDJSON)).queued).toEqual(['{"event_id":"c"}']);
});

test('PR 164: a member that asks for a deletion or an update is content like any other', async () => {
  const record = '{"event_id":"e","op":"delete","_delete":true,"$set":{"a":1}}';
  expect((await send(record)).queued).toEqual([record]);
});
