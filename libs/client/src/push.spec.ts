import { PUSH_BODY_BYTES_MAX } from '@tidemark/libs-kernel';
import type { Op } from '@tidemark/libs-wire';
import { connectRelay } from './relay-client.ts';
import { PushLog, type Script, ScriptedService, answer, broken, idsIn, opsOf } from './spec-service.ts';
import type { CallOptions } from './service.ts';

const log = () => new PushLog();
const pushed = async (script: Script, ops: readonly Op[], options: CallOptions = {}) => {
  const service = new ScriptedService(script);
  const outcome = await service.ended(connectRelay(service.options).push('a/b', ops, options));
  return { service, outcome, batches: service.seen.map(({ body }) => idsIn(body).join('')) };
};
const letters = (n: number) => opsOf(...'abcdefghijklmnopqrstuvwxyz'.slice(0, n));
const numbered = (n: number) => opsOf(...Array.from({ length: n }, (_, i) => `op-${i}`));

test('ops go to their stream as JSON without loss, and the highest seq comes back as a bigint', async () => {
  const big = answer(200, '{"appended":1}', { 'tidemark-seq': '9223372036854775807' });
  const { service, outcome } = await pushed(() => big, opsOf('x'));
  expect(outcome).toEqual({ kind: 'pushed', stored: 1, highestSeq: 2n ** 63n - 1n });
  expect(service.seen[0]).toMatchObject({ method: 'POST', url: 'http://service/streams/a%2Fb/ops' });
  expect(service.seen[0]?.headers).toEqual({ 'content-type': 'application/json' });
  expect(service.seen[0]?.body).toContain('"lamport":4611686018427387904,"site":7203685477580712345');
});

test('nothing to push sends nothing', async () => {
  const { service, outcome } = await pushed(() => null, []);
  expect([outcome, service.seen.length]).toEqual([{ kind: 'pushed', stored: 0, highestSeq: null }, 0]);
});

test('a batch has at most 500 ops', async () => {
  const relay = log();
  const { service, outcome } = await pushed(({ body }) => relay.store(body), numbered(1001));
  expect(service.seen.map(({ body }) => idsIn(body).length)).toEqual([500, 500, 1]);
  expect(outcome).toEqual({ kind: 'pushed', stored: 1001, highestSeq: 1001n });
});

test('a batch has at most 8 MiB, to the byte', async () => {
  const relay = log();
  const [a, b] = opsOf('a', 'b') as [Op, Op];
  const service = new ScriptedService(({ body }) => relay.store(body));
  const push = (ops: Op[]) => service.ended(connectRelay(service.options).push('s', ops));
  const filling = (n: number): Op => ({ ...b, value: 'v'.repeat(n) });
  await push([a, filling(0)]);
  const room = PUSH_BODY_BYTES_MAX - (service.seen[0]?.body.length ?? 0);
  await push([a, filling(room)]);
  expect(service.seen.at(-1)?.body.length).toBe(PUSH_BODY_BYTES_MAX);
  expect(service.seen).toHaveLength(2);
  await push([a, filling(room + 1)]);
  expect(service.seen.slice(2).map(({ body }) => idsIn(body).join())).toEqual(['a', 'b']);
});

test('413 halves a batch until the op that is too large stands alone; those before it stay pushed, those behind it wait', async () => {
  const relay = log();
  const { outcome, batches } = await pushed(
    ({ body }) => (body.includes('"f"') ? answer(413, 'too large') : relay.store(body)),
    letters(8),
  );
  expect(batches).toEqual(['abcdefgh', 'abcd', 'efgh', 'ef', 'e', 'f']);
  expect(outcome).toMatchObject({ kind: 'op_refused', stored: 5, highestSeq: 5n });
  expect(outcome.kind === 'op_refused' && [outcome.op.opId, outcome.error.status]).toEqual(['f', 413]);
  expect(relay.ids.join('')).toBe('abcde');
});

test('413 for too many ops at once ends with all of them stored, in their order', async () => {
  const relay = log();
  const few: Script = ({ body }) => (idsIn(body).length > 2 ? answer(413) : relay.store(body));
  expect((await pushed(few, letters(7))).outcome).toEqual({ kind: 'pushed', stored: 7, highestSeq: 7n });
  expect(relay.ids.join('')).toBe('abcdefg');
});

test('an op that no relay can take is named without being sent, after those before it are stored', async () => {
  const relay = log();
  const [a, b, c] = letters(3) as [Op, Op, Op];
  for (const bad of [
    { ...b, value: 'x'.repeat(PUSH_BODY_BYTES_MAX) },
    { ...b, author: '\ud800' },
    { ...b, extra: '[]' },
  ]) {
    const { outcome, batches } = await pushed(({ body }) => relay.store(body), [a, bad, c]);
    expect([outcome.kind, outcome.stored, batches]).toEqual(['op_refused', 1, ['a']]);
    expect(outcome.kind === 'op_refused' && [outcome.op, outcome.error.outcome]).toEqual([bad, 'not-done']);
  }
});

test('R23: a lost answer is followed by the same batch again, and its old seqs count', async () => {
  const relay = log();
  const { outcome, service } = await pushed(({ body }, nth) => {
    const stored = relay.store(body);
    return nth === 1 ? broken() : stored;
  }, letters(3));
  expect(outcome).toEqual({ kind: 'pushed', stored: 3, highestSeq: 3n });
  expect(service.seen[1]?.body).toBe(service.seen[0]?.body);
  expect(relay.ids.join('')).toBe('abc');
});

test('a relay that says nothing is asked again after the timeout', async () => {
  const relay = log();
  const { outcome, service } = await pushed(({ body }, nth) => (nth === 1 ? null : relay.store(body)), letters(1));
  expect([outcome.kind, service.seen.length]).toEqual(['pushed', 2]);
  expect(service.time.monotonic()).toBeGreaterThanOrEqual(30_000);
});

test('waits double with jitter, and are never shorter than Retry-After, in seconds or as a date', async () => {
  const relay = log();
  const service: ScriptedService = new ScriptedService(({ body }, nth) => {
    if (nth === 1 || nth === 2) return answer(500);
    if (nth === 3) return answer(503, '{"error":"busy"}', { 'retry-after': '5', 'tidemark-outcome': 'not-done' });
    const date = new Date(Math.ceil(service.time.now() / 1000) * 1000 + 9000).toUTCString();
    return nth === 4 ? answer(429, '', { 'retry-after': date }) : relay.store(body);
  });
  expect((await service.ended(connectRelay(service.options).push('s', letters(1)))).kind).toBe('pushed');
  expect(service.waits.slice(0, 3)).toEqual([100, 200, 5000]);
  expect(service.waits[3]).toBeGreaterThanOrEqual(9000);
  expect(service.waits[3]).toBeLessThan(10_000);
});

test('R32: what may be stored is told as unknown, however certainly the last attempt did nothing', async () => {
  const relay = log();
  const notDone = { 'tidemark-outcome': 'not-done' };
  const { outcome } = await pushed(({ body }, nth) => {
    if (nth === 1) return relay.store(body);
    return nth === 2 ? broken() : answer(503, '', notDone);
  }, numbered(700));
  expect(outcome).toMatchObject({ kind: 'interrupted', stored: 500, highestSeq: 500n, unknown: 200 });
  expect(outcome.kind === 'interrupted' && outcome.error).toMatchObject({ status: 503, outcome: 'unknown' });
});

test('R32: what a refused batch stored in part stays unknown while its halves are refused for certain', async () => {
  const { outcome } = await pushed(
    (_request, nth) =>
      nth === 1
        ? answer(422, 'op "c" holds a NUL', { 'tidemark-outcome': 'partly' })
        : answer(503, '', { 'tidemark-outcome': 'not-done' }),
    letters(5),
  );
  expect(outcome).toMatchObject({ kind: 'interrupted', stored: 0, unknown: 5 });
});

test.each<[string, Script, number]>([
  ['a refusal that was certainly not done', () => answer(503, '', { 'tidemark-outcome': 'not-done' }), 0],
  ['a refusal that stored a part', () => answer(503, '', { 'tidemark-outcome': 'partly' }), 3],
  ['a bare 500 of an older relay', () => answer(500), 3],
  ['a connection that was refused', () => broken('ECONNREFUSED'), 0],
  ['a connection that broke', () => broken(), 3],
])('after %s for 8 attempts, so many ops may be stored: %#', async (_, script, unknown) => {
  const { outcome, service } = await pushed(script, letters(3));
  expect(outcome).toMatchObject({ kind: 'interrupted', stored: 0, highestSeq: null, unknown });
  expect(service.seen).toHaveLength(8);
});

test('no attempt begins past the deadline, and none is waited for that would', async () => {
  const { outcome, service } = await pushed(() => answer(503, '', { 'retry-after': '50' }), letters(1));
  expect([outcome.kind, service.seen.length]).toEqual(['interrupted', 3]);
  expect(service.time.monotonic()).toBeLessThan(110_000);
});

test.each([400, 401, 403, 404, 405, 409, 415])(
  '%i is not tried again, and nothing behind it is sent',
  async (status) => {
    const { outcome, service } = await pushed(() => answer(status, 'no'), numbered(501));
    expect(outcome).toMatchObject({ kind: 'interrupted', stored: 0, unknown: 0, error: { status } });
    expect(service.seen).toHaveLength(1);
  },
);

test.each(['<html>welcome</html>', '{"ops":[],"next":0}', '{"appended":2}'])(
  '200 with %s is no answer of a relay: what was pushed is unknown',
  async (body) => {
    const { outcome, service } = await pushed(() => answer(200, body), letters(1));
    expect(outcome).toMatchObject({ kind: 'interrupted', stored: 0, unknown: 1, error: { status: 200 } });
    expect(service.seen).toHaveLength(1);
  },
);

test('a relay that does not tell its seqs is fine', async () => {
  const { outcome } = await pushed(() => answer(200, '{"appended":1}'), letters(1));
  expect(outcome).toEqual({ kind: 'pushed', stored: 1, highestSeq: null });
});

test('an abort while waiting ends the push, and what was under way is unknown; one before it leaves nothing unknown', async () => {
  const ends = new AbortController();
  const work = await pushed(
    () => {
      ends.abort(new Error('enough'));
      return null;
    },
    letters(2),
    { signal: ends.signal },
  );
  expect(work.outcome).toMatchObject({ kind: 'interrupted', unknown: 2, error: { status: null, message: 'aborted' } });
  const never = await pushed(() => null, letters(2), { signal: ends.signal });
  expect([never.outcome, never.service.seen.length]).toMatchObject([{ kind: 'interrupted', unknown: 0 }, 0]);
});

test('an abort between attempts ends the push without another', async () => {
  const ends = new AbortController();
  const service = new ScriptedService(() => answer(503, '', { 'retry-after': '20', 'tidemark-outcome': 'not-done' }));
  const work = connectRelay(service.options).push('s', letters(1), { signal: ends.signal });
  while (service.waits.length === 0) await new Promise(setImmediate);
  ends.abort();
  expect(await work).toMatchObject({ kind: 'interrupted', unknown: 0, error: { message: 'aborted' } });
  expect(service.seen).toHaveLength(1);
});
