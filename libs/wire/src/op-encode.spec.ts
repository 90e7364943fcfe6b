import fc from 'fast-check';
import { anyOp, refusal } from './arbitraries.ts';
import { I64_MAX } from './int64.ts';
import type { Op } from './op.ts';
import { encodeOp, encodePage, encodePush, opTextBytes } from './op-encode.ts';

const OP: Op = {
  envelopeVersion: 999,
  opId: 'o1',
  lamport: 2n ** 62n,
  site: 7203685477580712345n,
  domain: 'fact',
  targetKind: 'item',
  targetId: 'a\u001fb',
  field: 'title',
  opType: 'set',
  value: '',
  author: '',
  wallClock: '',
  extra: '{"key_id":"ed25519:AbC","sig":7}',
};

test('RLY-1: fields are written in their order, then the unknown ones', () => {
  expect(encodeOp(OP)).toBe(
    '{"envelope_version":999,"op_id":"o1","lamport":4611686018427387904,"site":7203685477580712345,"domain":"fact",' +
      '"target_kind":"item","target_id":"a\\u001fb","field":"title","op_type":"set","value":"","author":"","wall_clock":"",' +
      '"key_id":"ed25519:AbC","sig":7}',
  );
});

test('RLY-1: domain is left out when it is task; a null value is sent', () => {
  const text = encodeOp({ ...OP, domain: 'task', value: null, extra: '{}' });
  expect(text).not.toContain('domain');
  expect(text).toMatch(/"op_type":"set","value":null,"author":"","wall_clock":""}$/);
});

test('RLY-1: a page holds its ops and the cursor, a push its ops', () => {
  const op = encodeOp(OP);
  expect(encodePage([OP, OP], I64_MAX).toString()).toBe(`{"ops":[${op},${op}],"next":9223372036854775807}`);
  expect(encodePage([], -3n).toString()).toBe('{"ops":[],"next":-3}');
  expect(encodePush([])).toBe('{"ops":[]}');
});

test('RLY-1: stored extra text with blanks is served compact, with its tokens', () => {
  expect(encodeOp({ ...OP, extra: ' { "a" : [ 1.0 , "x y" ] }\n' })).toMatch(/"wall_clock":"","a":\[1\.0,"x y"\]}$/);
  expect(encodeOp({ ...OP, extra: '{ }' })).toMatch(/"wall_clock":""}$/);
});

test.each([
  '',
  'x',
  '[]',
  'null',
  '7',
  '"{}"',
  '{',
  '{"a":1',
  '{"a":1}}',
  '{"a":1}{}',
  '{a:1}',
  '{"a":"\\ud800"}',
  '{,}',
])('RLY-1: an op whose stored extra is %j is refused as corrupt, naming the passthrough', (extra) => {
  const reason = 'corrupt: the stored extra (the passthrough of unknown fields) is no JSON object';
  expect(refusal(() => encodeOp({ ...OP, extra }))).toBe(reason);
  expect(refusal(() => encodePage([OP, { ...OP, extra }], 2n))).toBe(reason);
});

test('RLY-1: a stored extra that would shadow a field of the op is corrupt', () => {
  expect(refusal(() => encodeOp({ ...OP, extra: '{"l\\u0061mport":1}' }))).toBe(
    'corrupt: the stored extra (the passthrough of unknown fields) is holding the field lamport',
  );
});

test('RLY-1: the size estimate is the text size but for escapes and the numbers own length', () => {
  fc.assert(
    fc.property(anyOp, (op) => {
      const texts = [
        op.opId,
        op.domain,
        op.targetKind,
        op.targetId,
        op.field,
        op.opType,
        op.value,
        op.author,
        op.wallClock,
      ];
      const escapes = texts.reduce((sum, text) => sum + escapeBytes(text ?? ''), 0);
      const actual = Buffer.byteLength(encodeOp(op)) - escapes;
      expect(Math.abs(opTextBytes(op) - actual)).toBeLessThan(80);
    }),
  );
});

function escapeBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2 - Buffer.byteLength(text);
}
