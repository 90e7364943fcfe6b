import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { anyText, refusal } from './arbitraries.ts';
import { canonicalOpBytes } from './canonical-op.ts';
import { claimSeq } from './claim-seq.ts';
import { fnv1a32, fnv1a64 } from './fnv1a.ts';
import type { Op } from './op.ts';
import { prefixCandidate, prefixCandidates } from './prefix-candidate.ts';

const LONE = '\ud800';
const NO_UTF8 = 'invalid: the text holds a lone surrogate, which has no UTF-8 form';

describe('claimSeq', () => {
  test.each([
    ['o1', -1272668462371106663n],
    ['', -8203414616412130827n],
    ['o2', -5271565380441378486n],
    ['victim', -1003930728870800634n],
    ['legacy', -7084150368652574660n],
    ['ab12.0001@1', -1493299502371462823n],
    ['λ', -3880607707719667475n],
  ])('RLY-5: the claim of %j', (opId, seq) => {
    expect(claimSeq(opId)).toBe(seq);
  });

  test('RLY-5: a claim is always below the counter at 0 and above the range of nothing', () => {
    fc.assert(
      fc.property(anyText, (opId) => {
        const seq = claimSeq(opId);
        expect(seq < 0n && seq >= -(2n ** 63n)).toBe(true);
      }),
    );
    expect(refusal(() => claimSeq(LONE))).toBe(NO_UTF8);
  });
});

describe('canonicalOpBytes', () => {
  const op: Op = {
    envelopeVersion: 1,
    opId: '01HFAKE0000000000000000001',
    lamport: 7n,
    site: 42n,
    domain: 'task',
    targetKind: 'item',
    targetId: 'ab12.7x3k',
    field: 'title',
    opType: 'set',
    value: 'hello',
    author: 'alice',
    wallClock: '',
    extra: '{}',
  };
  const hash = (of: Op) => createHash('sha256').update(canonicalOpBytes(of)).digest('hex');

  test('RLY-2: the golden op, with a value and without', () => {
    expect(canonicalOpBytes(op)).toHaveLength(174);
    expect(hash(op)).toBe('0e466b5887c44ddf7b4fb5671a14d5b3c4e64e4b1002f5c9eb3b52a1bff87fcd');
    const without = { ...op, value: null };
    expect(canonicalOpBytes(without)).toHaveLength(161);
    expect(hash(without)).toBe('936d8f6ed3965d2355736d8f296d8abad550dc347840739b8933621d776131e5');
  });

  test('RLY-2: every covered field changes the bytes; version and extra do not', () => {
    const changed = (change: Partial<Op>) => hash({ ...op, ...change }) !== hash(op);
    for (const name of [
      'opId',
      'domain',
      'targetKind',
      'targetId',
      'field',
      'opType',
      'value',
      'author',
      'wallClock',
    ]) {
      expect([name, changed({ [name]: 'é😀' })]).toEqual([name, true]);
    }
    expect(changed({ lamport: -7n }) && changed({ site: -(2n ** 63n) }) && changed({ value: '' })).toBe(true);
    expect(changed({ envelopeVersion: 999 }) || changed({ extra: '{"sig":1}' })).toBe(false);
    expect(refusal(() => canonicalOpBytes({ ...op, author: LONE }))).toBe(NO_UTF8);
  });
});

describe('prefixCandidate', () => {
  test.each([
    ['uuid-A', '4e8r njq3 6q6f qvnt'],
    ['uuid-B', 'd7rm w299 fgpb yb70'],
    ['uuid-C', 'amxn vrc1 8bzy sfea'],
    ['', 'nz4w 4vng q83k 64m7'],
    ['λ🔑', 'gcya 1hdp jnw1 3tbd'],
  ])('RLY-15: the first candidates of %j', (uuid, candidates) => {
    expect([0, 1, 2, 3].map((n) => prefixCandidate(uuid, n)).join(' ')).toBe(candidates);
  });

  // kills: prefix-candidate.ts: prefixOf(fnv1a64(littleEndian32(n), begun)); => prefixCandidate(replicaUuid, n);
  test('RLY-15, OPS-4: many candidates of a uuid, which may be as long as a body, take one pass over it', () => {
    const encode = jest.spyOn(Buffer, 'from');
    const candidate = prefixCandidates('λ🔑');
    expect([0, 1, 2, 3].map(candidate).join(' ')).toBe('gcya 1hdp jnw1 3tbd');
    expect(encode).toHaveBeenCalledTimes(1);
    encode.mockRestore();
  });

  test('RLY-15: a uuid without a UTF-8 form is refused', () => {
    expect(refusal(() => prefixCandidate(LONE, 0))).toBe(NO_UTF8);
  });
});

describe('fnv1a', () => {
  test.each([
    ['0', 890022063],
    ['acme', 1174237615],
    ['globex', 168391822],
    ['initech', 2025973345],
    ['', 0x811c9dc5],
  ])('DDP-1: 32 bits of %j', (text, hash) => {
    expect(fnv1a32(text)).toBe(hash);
    expect(fnv1a32(new TextEncoder().encode(text))).toBe(hash);
  });

  test('RLY-15: 64 bits equal the definition in exact arithmetic', () => {
    expect(fnv1a64('')).toBe(0xcbf29ce484222325n);
    expect(fnv1a64('a')).toBe(0xaf63dc4c8601ec8cn);
    expect(fnv1a64('foobar')).toBe(0x85944171f73967e8n);
    fc.assert(fc.property(fc.uint8Array(), (bytes) => expect(fnv1a64(bytes)).toBe(exactFnv1a64(bytes))));
  });
});

function exactFnv1a64(bytes: Uint8Array): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash;
}
