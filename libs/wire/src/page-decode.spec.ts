import fc from 'fast-check';
import { anyInt64, anyOp, bytesOf, refusal } from './arbitraries.ts';
import { encodePage } from './op-encode.ts';
import { decodePage } from './page-decode.ts';

// kills: page-decode.ts: parseInt64(scan.source()) => BigInt(Number(scan.source()))
test('RLY-2: any page comes back through its text, whatever its ops and its cursor are', () => {
  fc.assert(
    fc.property(fc.array(anyOp), anyInt64, (ops, next) =>
      expect(decodePage(encodePage(ops, next))).toEqual({ ops, next }),
    ),
  );
});

test('a page may hold more ops than a push, and members that are not known', () => {
  const [op] = fc.sample(anyOp, 1);
  const text = encodePage(
    Array.from({ length: 1001 }, () => op as never),
    7n,
  );
  expect(decodePage(bytesOf(`${text}`.replace('{', '{"more":[{}],'))).ops).toHaveLength(1001);
});

test.each([
  ['', 'malformed'],
  ['<html>', 'malformed'],
  ['{"ops":[],"next":1', 'malformed'],
  ['{"ops":[],"next":1} x', 'malformed'],
  ['[]', 'invalid'],
  ['{"appended":1}', 'invalid'],
  ['{"ops":[]}', 'invalid'],
  ['{"next":1}', 'invalid'],
  ['{"ops":{},"next":1}', 'invalid'],
  ['{"ops":[1],"next":1}', 'invalid'],
  ['{"ops":[{}],"next":1}', 'invalid'],
  ['{"ops":[],"next":1.0}', 'invalid'],
  ['{"ops":[],"next":9223372036854775808}', 'invalid'],
])('RLY-2: %s is no page', (text, code) => {
  expect(refusal(() => decodePage(bytesOf(text)))).toMatch(new RegExp(`^${code}: `));
});
