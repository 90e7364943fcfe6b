import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import Sqlite from 'better-sqlite3';
import { Fault, type FaultCode } from '@tidemark/libs-kernel';
import { ManualTime } from '@tidemark/libs-kernel/testing';
import type { IndexedOpStore } from '@tidemark/libs-op-store-contract';
import { MemoryOpStore, anOp, someOps } from '@tidemark/libs-op-store-contract/testing';
import type { SqliteStores } from '@tidemark/libs-op-store-sql';
import { encodePush } from '@tidemark/libs-wire';
import { type SpecHttp, startHttp } from './spec-http.ts';

jest.setTimeout(120_000);

let relay: SpecHttp;
afterEach(() => relay.close());

const pushOf = (...ids: string[]) => encodePush(ids.map((opId) => anOp({ opId })));
const idsIn = (page: string) => (JSON.parse(page) as { ops: { op_id: string }[] }).ops.map(({ op_id }) => op_id);
const nextOf = (page: string) => /"next":(-?\d+)\}$/.exec(page)?.[1];

describe('what a client does when something went wrong', () => {
  beforeEach(async () => (relay = await startHttp()));

  test('R19: the end of a stream is exactly the cursor that was sent, and the next op lies beyond it', async () => {
    await relay.push(pushOf('a', 'b'));
    for (const since of ['2', '7']) expect(await relay.pull('s', `?since=${since}`)).toBe(`{"ops":[],"next":${since}}`);
    await relay.push(pushOf('c'));
    expect(idsIn(await relay.pull('s', '?since=2'))).toEqual(['c']);
  });

  test('R34: no pull may be kept by a cache, and a cursor never meets what came after an erasure', async () => {
    await relay.push(pushOf('a', 'b'));
    expect((await relay.ask('DELETE', '/v1/streams/s')).status).toBe(200);
    await relay.push(pushOf('other'));
    expect(idsIn(await relay.pull('s', '?since=1'))).toEqual(['other']);
    expect(nextOf(await relay.pull('s', '?since=2'))).toBe('3');
    for (const query of ['', '?since=3', '?since=99', '?limit=0']) {
      const { status, headers } = await relay.get(`/streams/s/ops${query}`);
      expect([query, status, headers['cache-control']]).toEqual([query, 200, 'no-store']);
    }
  });

  test('R43: a push that can never be stored holds nothing up, neither its own repeats nor others', async () => {
    const poison = encodePush([anOp({ opId: 'a' })]).replace('"lamport":7', '"lamport":"7"');
    for (let i = 0; i < 3; i++) expect((await relay.push(poison)).status).toBe(422);
    expect((await relay.push(pushOf('b'))).headers['tidemark-seq']).toBe('1');
    expect(idsIn(await relay.pull())).toEqual(['b']);
  });

  test('R41: what broke off leaves nothing that a reader would have to wait for', async () => {
    await relay.push(pushOf('a'));
    await relay.push('{"ops":[');
    await relay.push(encodePush(someOps(1001)));
    expect(idsIn(await relay.pull())).toEqual(['a']);
    expect(await relay.pull('s', '?since=1')).toBe('{"ops":[],"next":1}');
  });

  test('R44: the same cursor gives the same bytes, whoever asks and however often', async () => {
    await relay.push(encodePush(someOps(20)));
    const first = await relay.pull('s', '?since=3&limit=5');
    for (let i = 0; i < 3; i++) expect(await relay.pull('s', '?since=3&limit=5')).toBe(first);
  });
});

/** A store's own words may name its place. */
const WITHHELD = {
  unavailable: 'not available now: try again later',
  disk_full: 'no space is left to write: try again later',
};

describe('what a store says', () => {
  test.each<[FaultCode, number, string, string | undefined]>([
    ['unavailable', 503, 'not-done', '5'],
    ['overloaded', 503, 'not-done', '5'],
    ['deadline', 503, 'not-done', '5'],
    ['disk_full', 503, 'not-done', '5'],
    ['too_large', 413, 'not-done', undefined],
    ['invalid', 422, 'not-done', undefined],
    ['corrupt', 500, 'not-done', undefined],
    ['misconfigured', 500, 'not-done', undefined],
    ['unknown_outcome', 500, 'unknown', undefined],
    ['internal', 500, 'unknown', undefined],
  ])(
    'R35, OPS-6, RLY-10: %s is %i, says %s, and asks to come back in %s s',
    async (code, status, outcome, retryAfter) => {
      relay = await startHttp({ opStore: failing(new Fault(code, 'the reason')) });
      for (const told of [await relay.push(pushOf('a')), await relay.get('/streams/s/ops')]) {
        expect(told.status).toBe(status);
        expect(told.headers['tidemark-outcome']).toBe(outcome);
        expect(told.headers['retry-after']).toBe(retryAfter);
        if (status === 500) expect(told.text).toBe('');
        else expect(told.text).toBe(code === 'unavailable' || code === 'disk_full' ? WITHHELD[code] : 'the reason');
      }
    },
  );

  test('RLY-10: an answer that comes after the deadline is 503 and unknown; the push is stored, and its repeat finds it', async () => {
    const held = Promise.withResolvers<void>();
    const store = new MemoryOpStore();
    const entered = Promise.withResolvers<void>();
    relay = await startHttp({
      opStore: wrapped(store, {
        append: async (stream, ops) => {
          entered.resolve();
          await held.promise;
          return store.append(stream, ops);
        },
      }),
    });
    const late = relay.push(pushOf('a', 'b'));
    await entered.promise;
    relay.time.advance(20_000);
    const { status, headers } = await late;
    expect([status, headers['tidemark-outcome'], headers['retry-after']]).toEqual([503, 'unknown', '5']);
    held.resolve();
    const again = await relay.push(pushOf('a', 'b'));
    expect([again.status, again.text, again.headers['tidemark-seq']]).toEqual([200, '{"appended":2}', '2']);
    expect(idsIn(await relay.pull())).toEqual(['a', 'b']);
  });

  const failing = (fault: Fault) =>
    wrapped(new MemoryOpStore(), { append: () => Promise.reject(fault), read: () => Promise.reject(fault) });

  function wrapped(store: IndexedOpStore, changes: Partial<IndexedOpStore>): IndexedOpStore {
    return new Proxy(store, {
      get: (of, name) => {
        const member: unknown = Reflect.get(changes, name) ?? Reflect.get(of, name);
        return typeof member === 'function' ? member.bind(of) : member;
      },
    });
  }
});

describe('on SQLite', () => {
  let folder: string;
  let stores: SqliteStores;
  const file = () => path.join(folder, 'relay.sqlite');

  beforeEach(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'tidemark-relay-'));
    const time = new ManualTime();
    const { connectSqlite } = await import('@tidemark/libs-op-store-sql');
    stores = await connectSqlite({ file: file(), clock: time, sleeper: time });
    relay = await startHttp({ opStore: stores.opStore });
  });
  afterEach(async () => {
    await stores.close();
    rmSync(folder, { recursive: true });
  });

  test('S11, RLY-2: a seq above 2^53 is exact in cursors, answers, heads and the next seq', async () => {
    await relay.push(pushOf('a'));
    plant('UPDATE stream_ops SET seq = 9007199254740993');
    expect(nextOf(await relay.pull())).toBe('9007199254740993');
    expect(idsIn(await relay.pull('s', '?since=9007199254740992'))).toEqual(['a']);
    expect(await relay.pull('s', '?since=9007199254740993')).toBe('{"ops":[],"next":9007199254740993}');
    expect((await relay.get('/v1/streams')).text).toContain('"head":9007199254740993}');
    expect((await relay.get('/v1/streams/s')).text).toContain('"head":9007199254740993,');
    expect((await relay.push(pushOf('a'))).headers['tidemark-seq']).toBe('9007199254740993');
    expect((await relay.push(pushOf('b'))).headers['tidemark-seq']).toBe('9007199254740994');
  });

  test('RLY-2: NUL and everything else that is text survives in every text', async () => {
    const text = '\0\u0001\u001e\u001f"\\\u007f\u0085\u2028\ufffe\uffff😀';
    const op = anOp({ opId: text, targetId: text, value: text, author: text, extra: JSON.stringify({ [text]: text }) });
    expect((await relay.push(encodePush([op]), '%00')).status).toBe(200);
    expect(await relay.pull('%00')).toBe(`${encodePush([op]).slice(0, -1)},"next":1}`);
  });

  test('RLY-1: an op whose stored rest cannot be read is a bare 500 and hides nothing', async () => {
    await relay.push(pushOf('a', 'b', 'c'));
    plant(`UPDATE stream_ops SET extra = '{"sig":' WHERE seq = 2`);
    const { status, text, headers } = await relay.get('/streams/s/ops');
    expect([status, text, headers['tidemark-outcome']]).toEqual([500, '', 'not-done']);
  });

  test('SEC-1: a refusal does not name the file of the store', async () => {
    await stores.close();
    const answers = await Promise.all([relay.push(pushOf('a')), relay.get('/streams/s/ops'), relay.get('/v1/streams')]);
    for (const { status, text } of answers) {
      expect(status).toBe(503);
      expect(text).toContain(WITHHELD.unavailable);
      expect(text).not.toContain(folder);
    }
  });

  test('R40: whoever pulls during a push sees its ops from the first on, never one without those before it', async () => {
    const ids = Array.from({ length: 20 }, (_, push) => Array.from({ length: 50 }, (_, i) => `${push}-${i}`));
    const pushes = Promise.all(ids.map((push) => relay.push(pushOf(...push))));
    const seen: string[] = [];
    let pushed = false;
    void pushes.then(() => (pushed = true));
    for (let since = '0', end = false; !end;) {
      const last = pushed;
      const page = await relay.pull('s', `?since=${since}&limit=30`);
      seen.push(...idsIn(page));
      end = last && nextOf(page) === since;
      since = nextOf(page) as string;
    }
    expect((await pushes).map(({ status }) => status)).toEqual(ids.map(() => 200));
    expect(seen).toHaveLength(1000);
    for (const push of ids) {
      const [first = ''] = push;
      const at = seen.indexOf(first);
      expect(seen.slice(at, at + push.length)).toEqual(push);
    }
  });

  function plant(sql: string): void {
    const db = new Sqlite(file());
    db.exec(sql);
    db.close();
  }
});
