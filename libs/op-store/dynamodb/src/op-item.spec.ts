import { Fault } from '@tidemark/libs-kernel';
import { anOp } from '@tidemark/libs-op-store-contract/testing';
import { I64_MAX, I64_MIN, type Op } from '@tidemark/libs-wire';
import fc from 'fast-check';
import { claimItem, type Item, itemKey, opItem, toClaim, toCounter, toSequencedOp } from './op-item.ts';

const FIRST = {
  stream_id: { S: 'stream-5d41402abc4b2a76b9719d91' },
  seq: { N: '1' },
  envelope_version: { N: '1' },
  op_id: { S: 'o1' },
  lamport: { N: '41' },
  site: { N: '7203685477580712345' },
  domain: { S: 'task' },
  target_kind: { S: 'item' },
  target_id: { S: 'q7w2.k3f9' },
  field: { S: 'title' },
  op_type: { S: 'set' },
  value: { S: 'Order flour' },
  author: { S: 'mira' },
  wall_clock: { S: '2026-10-12T08:15:00Z' },
};

const FIRST_OP: Op = {
  envelopeVersion: 1,
  opId: 'o1',
  lamport: 41n,
  site: 7203685477580712345n,
  domain: 'task',
  targetKind: 'item',
  targetId: 'q7w2.k3f9',
  field: 'title',
  opType: 'set',
  value: 'Order flour',
  author: 'mira',
  wallClock: '2026-10-12T08:15:00Z',
  extra: '{}',
};

describe('the item of an op', () => {
  it('RLY-1: has the attributes of the table, the domain always, and no extra when there is none', () => {
    expect(opItem('stream-5d41402abc4b2a76b9719d91', 1n, FIRST_OP)).toEqual(FIRST);
  });

  it('RLY-2: leaves a null value out, and keeps an empty one', () => {
    expect(opItem('s', 1n, { ...FIRST_OP, value: null })).not.toHaveProperty('value');
    expect(opItem('s', 1n, { ...FIRST_OP, value: '' })).toHaveProperty('value', { S: '' });
  });

  it('RLY-1: holds unknown fields as exactly their compact JSON', () => {
    expect(opItem('s', 1n, { ...FIRST_OP, extra: '{"sig":"mQ"}' })).toHaveProperty('extra', { S: '{"sig":"mQ"}' });
  });

  it('RLY-2: comes back as it went, whatever is in it', () => {
    const int64 = fc.bigInt(I64_MIN, I64_MAX);
    const op = fc.record({
      envelopeVersion: fc.integer({ min: 0, max: 65_535 }),
      opId: fc.string({ unit: 'grapheme' }),
      lamport: int64,
      site: int64,
      domain: fc.string(),
      targetKind: fc.string(),
      targetId: fc.string(),
      field: fc.string(),
      opType: fc.string(),
      value: fc.option(fc.string({ unit: 'binary' })),
      author: fc.string(),
      wallClock: fc.string(),
      extra: fc.constantFrom('{}', '{"sig":7}', '{"big":9007199254740993}'),
    });
    fc.assert(
      fc.property(fc.bigInt(1n, I64_MAX), op, (seq, given) => {
        expect(toSequencedOp(opItem('s', seq, given))).toEqual({ seq, op: given });
      }),
    );
  });

  it.each(Object.keys(FIRST).filter((name) => name !== 'value' && name !== 'stream_id'))(
    'RLY-1: without its %s, or with one of another type, is a loud fault that names it',
    (name) => {
      const { [name]: _, ...rest } = FIRST as Record<string, Item[string]>;
      expect(() => toSequencedOp(rest)).toThrow(corrupt(name));
      expect(() => toSequencedOp({ ...rest, [name]: { BOOL: true } })).toThrow(corrupt(name));
    },
  );

  it('RLY-1: with a malformed number, value or extra is a loud fault that names it, with its place', () => {
    const malformed: Record<string, Item[string]> = {
      seq: { N: '1.5' },
      lamport: { N: '9223372036854775808' },
      site: { N: '1E3' },
      envelope_version: { N: '65536' },
      value: { NULL: true },
      extra: { S: '{"sig":"mQ' },
    };
    for (const [name, value] of Object.entries(malformed))
      expect(() => toSequencedOp({ ...FIRST, [name]: value })).toThrow(corrupt(name));
    for (const extra of ['', '[1]', 'null', '7'])
      expect(() => toSequencedOp({ ...FIRST, extra: { S: extra } })).toThrow(corrupt('extra'));
    expect(() => toSequencedOp({ ...FIRST, op_id: { N: '1' } })).toThrow(
      'stream "stream-5d41402abc4b2a76b9719d91", seq 1',
    );
  });
});

describe('the claim of an op', () => {
  it.each([
    ['o1', '-1272668462371106663'],
    ['', '-8203414616412130827'],
    ['o2', '-5271565380441378486'],
    ['victim', '-1003930728870800634'],
    ['legacy', '-7084150368652574660'],
    ['ab12.0001@1', '-1493299502371462823'],
    ['λ', '-3880607707719667475'],
  ])('RLY-1: of %j stands at its golden key', (opId, seq) => {
    expect(claimItem('s', opId, 7n)).toEqual({
      stream_id: { S: 's' },
      seq: { N: seq },
      op_id: { S: opId },
      op_seq: { N: '7' },
    });
  });

  it('RLY-5: comes back as it went; a malformed one is a loud fault', () => {
    expect(toClaim(claimItem('s', 'λ', I64_MAX))).toEqual({ opId: 'λ', opSeq: I64_MAX });
    expect(() => toClaim({ ...itemKey('s', -1n), op_id: { S: 'a' } })).toThrow(corrupt('op_seq'));
    expect(() => toClaim({ ...itemKey('s', -1n), op_seq: { N: '1' } })).toThrow(corrupt('op_id'));
  });
});

describe('the counter', () => {
  it('RLY-7: is 0 where there is none, or one without a number', () => {
    expect(toCounter(undefined)).toEqual({ next: 0n, truncatedThrough: 0n });
    expect(toCounter(itemKey('s', 0n))).toEqual({ next: 0n, truncatedThrough: 0n });
    const both = { ...itemKey('s', 0n), next_seq: { N: '9' }, truncated_through: { N: '4' } };
    expect(toCounter(both)).toEqual({ next: 9n, truncatedThrough: 4n });
  });

  it('RLY-7: that is no seq is a loud fault: below 0 are the places of claims', () => {
    for (const next of [{ N: '-1' }, { N: '1.5' }, { N: '9223372036854775808' }, { S: '1' }])
      expect(() => toCounter({ ...itemKey('s', 0n), next_seq: next })).toThrow(corrupt('next_seq'));
  });
});

function corrupt(name: string): Fault {
  return expect.objectContaining({ code: 'corrupt', message: expect.stringContaining(name) });
}

it('RLY-1: an op of the test contract fits the table', () => {
  expect(toSequencedOp(opItem('s', 3n, anOp()))).toEqual({ seq: 3n, op: anOp() });
});
