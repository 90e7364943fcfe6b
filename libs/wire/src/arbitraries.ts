// Random wire values for this package's property tests.
import fc from 'fast-check';
import { Fault } from '@tidemark/libs-kernel';
import { I64_MAX, I64_MIN } from './int64.ts';
import { JsonNumber, JsonObject, type JsonValue } from './json-value.ts';
import type { Op } from './op.ts';
import { OP_FIELDS } from './op-fields.ts';
import { writeJson } from './json-write.ts';
import { compareUtf8 } from '@tidemark/libs-kernel';

/** Well-formed text from every plane, with the characters that codecs trip over well represented. */
export const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.string({
    unit: fc.constantFrom('"', '\\', '\n', '\u0000', '\u001f', '\u007f', '\u2028', 'é', '𝒳', '\uffff', '/', '%'),
  }),
);

export const anyInt64 = fc.oneof(
  fc.bigInt({ min: I64_MIN, max: I64_MAX }),
  fc.constantFrom(I64_MIN, I64_MAX, 0n, -1n, 2n ** 53n, 2n ** 53n + 1n),
);

export const anyNumberToken = fc.oneof(
  anyInt64.map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => JSON.stringify(n)),
  fc.constantFrom('1.0', '1e400', '-0', '-0.0', '0E+00', '1E-7', '123456789012345678901234567890', '0.1000', '-1e-999'),
);

export const anyKey = fc.oneof(
  anyText,
  fc.constantFrom('__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '', '😀', '\uffff', 'a'),
);

export const anyJson: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(
      fc.constantFrom(null, true, false),
      anyText,
      anyNumberToken.map((token) => new JsonNumber(token)),
    ),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.uniqueArray(fc.tuple(anyKey, tie('value')), { maxLength: 5, selector: ([key]) => key }).map(objectOf),
  ),
})).value;

function objectOf(members: [string, JsonValue][]): JsonObject {
  return new JsonObject(new Map(members));
}

/** The text's tokens with random blanks between them. */
export const anyBlanks = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r'), maxLength: 3 });

export function spaced(value: JsonValue, blanks: string): string {
  if (Array.isArray(value)) return `${blanks}[${value.map((v) => spaced(v, blanks)).join(',') || blanks}]${blanks}`;
  if (!(value instanceof JsonObject)) return blanks + writeJson(value) + blanks;
  const members = [...value.members].map(([k, v]) => `${blanks}${writeJson(k)}${blanks}:${spaced(v, blanks)}`);
  return `${blanks}{${members.join(',') || blanks}}${blanks}`;
}

const OWN = new Set(OP_FIELDS.map(({ name }) => name));

const anyExtra = fc
  .uniqueArray(fc.tuple(anyKey, anyJson), { maxLength: 4, selector: ([key]) => key })
  .map((members) => members.filter(([key]) => !OWN.has(key)).sort(([a], [b]) => compareUtf8(a, b)))
  .map((members) => writeJson(objectOf(members)));

export const anyOp: fc.Arbitrary<Op> = fc.record({
  envelopeVersion: fc.integer({ min: 0, max: 65535 }),
  opId: anyText,
  lamport: anyInt64,
  site: anyInt64,
  domain: fc.oneof(fc.constant('task'), anyText),
  targetKind: anyText,
  targetId: anyText,
  field: anyText,
  opType: anyText,
  value: fc.option(anyText),
  author: anyText,
  wallClock: anyText,
  extra: anyExtra,
});

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** `code: message` of the Fault that the work throws; any other error fails the test. */
export function refusal(work: () => unknown): string {
  try {
    work();
  } catch (thrown) {
    if (thrown instanceof Fault) return `${thrown.code}: ${thrown.message}`;
    throw thrown;
  }
  return 'accepted';
}
