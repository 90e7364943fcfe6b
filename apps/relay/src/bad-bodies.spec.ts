import { readFileSync, readdirSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { PUSH_BODY_BYTES_MAX } from '@tidemark/libs-kernel';
import { sharedData } from '@tidemark/libs-kernel/testing';
import { anOp, someOps } from '@tidemark/libs-op-store-contract/testing';
import {
  JsonNumber,
  JsonObject,
  type JsonValue,
  decodeUtf8,
  encodeOp,
  encodePush,
  readJson,
} from '@tidemark/libs-wire';
import { type SpecHttp, type Told, startHttp } from './spec-http.ts';

jest.setTimeout(120_000);

let relay: SpecHttp;
beforeAll(async () => (relay = await startHttp()));
afterAll(() => relay.close());

const OP = encodeOp(anOp());
/** A push of one op with this member beside its own. */
const withMember = (member: string | Uint8Array) =>
  Buffer.concat([Buffer.from(`{"ops":[${OP.slice(0, -1)},`), Buffer.from(member), Buffer.from('}]}')]);
/** A push of one op of which one token is another. */
const withToken = (from: string, to: string) => `{"ops":[${OP.replace(from, to)}]}`;

async function expectRefused(told: Told, ...statuses: number[]): Promise<void> {
  expect(statuses).toContain(told.status);
  expect(told.headers['tidemark-outcome']).toBe('not-done');
  expect(told.headers['content-type']).toBe('text/plain; charset=utf-8');
  expect(told.text).toMatch(/^.{5,200}$/s);
  expect(await relay.stored()).toEqual([]);
}

describe('bodies that are refused', () => {
  const refused: readonly (readonly [what: string, body: string | Uint8Array, status: number])[] = [
    ['a byte that is no UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 400],
    ['a surrogate in UTF-8', withMember(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31])), 400],
    ['S10: a lone surrogate in an op id', withToken('"op-1"', '"\\ud800"'), 400],
    ['S10: a lone surrogate in a value', withToken('"hello"', '"a\\udc00b"'), 400],
    ['S10: surrogates in the wrong order', withToken('"hello"', '"\\udc00\\ud800"'), 400],
    ['S10: a lone surrogate in an unknown member', withMember('"x":["\\uDBFF"]'), 400],
    ['S10: a lone surrogate in a name', withMember('"\\ud800":1'), 400],
    ['two byte order marks', '\ufeff\ufeff{"ops":[]}', 400],
    ['NUL after the end', '{"ops":[]}\0', 400],
    ['a comment', '{"ops":[]/**/}', 400],
    ['a comma too many', '{"ops":[],}', 400],
    ['no quotes', '{ops:[]}', 400],
    ['NaN', withMember('"x":NaN'), 400],
    ['nesting of 8 MiB', '['.repeat(PUSH_BODY_BYTES_MAX), 400],
    ['nesting of 10 MB', '['.repeat(10_000_000), 413],
    ['nesting inside of an op', withMember(`"x":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`), 400],
    ['1,001 things that are no ops', `{"ops":[${'0,'.repeat(1000)}0]}`, 413],
    ['1,001 ops of which the first is wrong', `{"ops":[{},${`${OP},`.repeat(999)}${OP}]}`, 413],
    ['1,000 ops of which the last is wrong', `{"ops":[${`${OP},`.repeat(999)}{}]}`, 422],
    ['ops given twice', '{"ops":[],"ops":[]}', 422],
    ['ops given twice, once as escapes', '{"ops":[],"\\u006fps":[]}', 422],
    ['a field given twice', withMember('"op_id":"x"'), 422],
    ['a field given twice, once as escapes', withMember('"op\\u005fid":"x"'), 422],
    ['no object', '"ops"', 422],
    ['a list of ops', `[${OP}]`, 422],
    ['ops by number', `{"ops":{"0":${OP},"length":1}}`, 422],
    ['ops that are null', '{"ops":null}', 422],
    ['an op that is null', '{"ops":[null]}', 422],
    ['an op in a list', `{"ops":[[${OP}]]}`, 422],
    ['a domain that is null', withMember('"domain":null'), 422],
    ['an author that is null', withToken('"alice"', 'null'), 422],
    ['a value that is a number', withToken('"hello"', '1'), 422],
    ['a version below 0', withToken('"envelope_version":1', '"envelope_version":-1'), 422],
    ['a version above 65535', withToken('"envelope_version":1', '"envelope_version":65536'), 422],
    ...['1.0', '1e3', '-0', '"1"', 'null', '9223372036854775808', '-9223372036854775809', '9'.repeat(1000)].flatMap(
      (token) =>
        ['"lamport":7', '"site":42'].map(
          (field) =>
            [
              `RLY-2: ${field.split(':')[0]} of ${token.slice(0, 25)}`,
              withToken(field, field.replace(/\d+$/, token)),
              422,
            ] as const,
        ),
    ),
  ];

  test.each(refused)('RLY-1: a push with %s is refused, and nothing is stored', async (_what, body, status) => {
    await expectRefused(await relay.push(body), status);
  });

  test('RLY-1: a push of 3 ops that ends at any byte is 400, and nothing is stored', async () => {
    const body = Buffer.from(
      encodePush([...someOps(2), anOp({ opId: 'é😀', extra: '{"x":[1.5e3,{"y":"\\u00e9"}]}' })]),
    );
    for (let end = 0; end < body.length; end++) {
      const told = await relay.push(body.subarray(0, end));
      expect([end, told.status, told.headers['tidemark-outcome']]).toEqual([end, 400, 'not-done']);
    }
    expect(await relay.stored()).toEqual([]);
  });

  test.each([
    ['with a length', (body: string) => ['Content-Length: ' + body.length, body] as const],
    [
      'in chunks',
      (body: string) => ['Transfer-Encoding: chunked', `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`] as const,
    ],
  ])('H11, RLY-1: a push %s whose connection is cut before its last byte stores nothing', async (_what, framed) => {
    const [header, bytes] = framed(encodePush(someOps(3)));
    for (let end = 0; end < bytes.length; end += 7) await cutAfter(header, bytes.slice(0, end));
    await cutAfter(header, bytes.slice(0, -1));
    while (relay.traffic.requests > 0) await new Promise((resolve) => setImmediate(resolve));
    expect(await relay.stored()).toEqual([]);
  });

  /** Resolves when the relay has seen the request, and the end of its connection. */
  async function cutAfter(header: string, sent: string): Promise<void> {
    const head = `POST /streams/s/ops HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${header}\r\n\r\n`;
    const socket = connect(relay.port, '127.0.0.1');
    await new Promise<void>((resolve) => socket.end(head + sent, resolve));
    // What was refused in time is told so; nothing else may be.
    const answer = (await socket.toArray()).join('');
    expect(answer).toMatch(/^$|^HTTP\/1\.1 400 [^]*Tidemark-Outcome: not-done/);
  }

  test('H10: five hundred pushes whose connections break leave no file open, and the relay answers', async () => {
    await relay.pull();
    const before = openFiles();
    for (let i = 0; i < 500; i += 10) {
      const sockets = Array.from({ length: 10 }, () => connect(relay.port, '127.0.0.1'));
      for (const socket of sockets) {
        socket.on('error', () => {});
        socket.write(
          'POST /streams/s/ops HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"op',
        );
      }
      while (relay.traffic.requests < 10) await new Promise((resolve) => setImmediate(resolve));
      for (const socket of sockets) socket.resetAndDestroy();
      while (relay.traffic.requests > 0) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(openFiles()).toBeLessThan(before + 10);
    expect(await relay.pull()).toBe('{"ops":[],"next":0}');
    expect(await relay.stored()).toEqual([]);
  });

  const openFiles = () => readdirSync('/proc/self/fd').length;
});

const suite = sharedData('json-test-suite/test_parsing');
const files = suite === null ? [] : readdirSync(suite);
const withSuite = suite === null ? test.skip : test;
const read = (file: string) => readFileSync(path.join(suite as string, file));

describe('the JSON test suite', () => {
  withSuite('RLY-1: every file as the body of a push is 400 or 422, and nothing is stored', async () => {
    expect(files.length).toBeGreaterThan(300);
    for (const file of files) {
      const expected = file.startsWith('n_') ? [400] : file.startsWith('y_') ? [422] : [400, 422];
      const told = await relay.push(read(file));
      expect([file, expected.includes(told.status), told.headers['tidemark-outcome']]).toEqual([
        file,
        true,
        'not-done',
      ]);
    }
    expect(await relay.stored()).toEqual([]);
  });

  withSuite(
    'RLY-2: every file as an unknown member of an op comes back as it was, to the digit, or is 400 and not stored',
    async () => {
      const own = await startHttp();
      let accepted = 0;
      for (const file of files) {
        const bytes = read(file);
        const stream = encodeURIComponent(file);
        const told = await own.push(withMember(Buffer.concat([Buffer.from('"x":'), bytes])), stream);
        expect([file, file.startsWith('n_') && told.status === 200]).toEqual([file, false]);
        expect([file, file.startsWith('y_') && told.status !== 200]).toEqual([file, false]);
        if (told.status === 200) {
          accepted++;
          expect([file, memberOf(await own.pull(stream))]).toEqual([file, readJson(decodeUtf8(bytes))]);
        } else expect([file, told.status]).toEqual([file, 400]);
      }
      expect((await own.stored()).length).toBe(accepted);
      expect(accepted).toBeGreaterThan(95);
      await own.close();
    },
  );

  /** The unknown member of the one op of a page. */
  function memberOf(page: string): JsonValue | undefined {
    const { members } = readJson(page) as JsonObject;
    const [op] = members.get('ops') as JsonObject[];
    expect((members.get('next') as JsonNumber).text).toBe('1');
    return op?.members.get('x');
  }
});

const strings = sharedData('naughty-strings.json');
const withStrings = strings === null ? test.skip : test;

describe('texts', () => {
  withStrings(
    'SEC-2: every naughty string survives in every text of an op, and registers as a prefix and a replica',
    async () => {
      const own = await startHttp();
      const naughty = [...new Set(JSON.parse(readFileSync(strings as string, 'utf8')) as string[])];
      const ops = naughty.map((text, i) =>
        anOp({
          opId: text,
          lamport: BigInt(i),
          ...{ domain: text, targetKind: text, targetId: text, field: text, opType: text },
          ...{ value: text, author: text, wallClock: text, extra: JSON.stringify({ [`x${text}`]: text }) },
        }),
      );
      expect((await own.push(encodePush(ops))).status).toBe(200);
      expect(await own.pull('s', '?limit=1000')).toBe(`{"ops":[${ops.map(encodeOp).join(',')}],"next":${ops.length}}`);
      for (const text of naughty) {
        const told = await own.post('/streams/s/register', JSON.stringify({ prefix: text, replica_uuid: text }));
        expect([text, told.status, told.text]).toEqual([text, 200, '{"outcome":"registered"}']);
      }
      await own.close();
    },
  );

  withStrings(
    'SEC-2, RLY-15: every naughty string as a machine is noted as it is, or 400 in words for a person',
    async () => {
      const own = await startHttp();
      const naughty = JSON.parse(readFileSync(strings as string, 'utf8')) as string[];
      for (const [i, text] of naughty.entries()) {
        const stream = `s${i}`;
        const name = JSON.stringify({ machine_id: 'm', name: text, interval_secs: 1 });
        const told = await own.post(`/streams/${stream}/machines`, name);
        const { machines } = JSON.parse((await own.get(`/streams/${stream}/machines`)).text) as {
          machines: { name: string }[];
        };
        expect([text, told.status, machines.map((machine) => machine.name)]).toEqual(
          told.status === 204 ? [text, 204, [text]] : [text, 400, []],
        );
        if (told.status === 400) expect(told.text).toMatch(/^name must .+\.$/);
        const id = await own.post(
          `/streams/${stream}/machines`,
          JSON.stringify({ machine_id: text, name: 'n', interval_secs: 1 }),
        );
        if (!/^[\x21-\x7e]{1,64}$/.test(text))
          expect([text, id.status, id.text]).toEqual([text, 400, expect.stringMatching(/^machine_id must /)]);
        else expect([text, id.status]).toEqual([text, 204]);
      }
      expect(await own.stored()).toEqual([]);
      await own.close();
    },
  );
});
