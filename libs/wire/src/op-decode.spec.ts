import fc from 'fast-check';
import { OP_EXTRA_MEMBERS_MAX, PUSH_EXTRA_MEMBERS_MAX, PUSH_OPS_MAX } from '@tidemark/libs-kernel';
import { anyJson, anyKey, anyOp, bytesOf, refusal } from './arbitraries.ts';
import { I64_MAX, I64_MIN } from './int64.ts';
import { decodeUtf8, readJson } from './json-read.ts';
import { decodePush } from './op-decode.ts';
import { encodeOp, encodePush } from './op-encode.ts';
import { OP_FIELDS } from './op-fields.ts';
import { decodePage } from './page-decode.ts';
import { writeJson } from './json-write.ts';

const MEMBERS: Record<string, string> = {
  envelope_version: '1',
  op_id: '"01JB2Q6T5V0Y8ZC3N4M9K7H2XA"',
  lamport: '41',
  site: '7203685477580712345',
  target_kind: '"item"',
  target_id: '"q7w2.k3f9"',
  field: '"title"',
  op_type: '"set"',
  value: '"Order flour"',
  author: '"mira"',
  wall_clock: '"2026-10-12T08:15:00Z"',
};

/** An op's text with these members put in, replaced, or (undefined) left out. */
function opText(changes: Record<string, string | undefined> = {}): string {
  const members = Object.entries({ ...MEMBERS, ...changes }).filter(([, token]) => token !== undefined);
  return `{${members.map(([name, token]) => `${JSON.stringify(name)}:${token}`).join()}}`;
}

const pushText = (...ops: string[]) => `{"ops":[${ops.join()}]}`;
const decodeText = (text: string) => decodePush(bytesOf(text));
const decodeOne = (changes: Record<string, string | undefined>) => decodeText(pushText(opText(changes)))[0];
const refuseOne = (changes: Record<string, string | undefined>) => refusal(() => decodeOne(changes));
const refuse = (text: string) => refusal(() => decodeText(text));

describe('decodePush', () => {
  test('RLY-1: an op of the wire becomes an op', () => {
    expect(decodeOne({ key_id: '"ed25519:AbC"', sig: '"mQ"' })).toEqual({
      envelopeVersion: 1,
      opId: '01JB2Q6T5V0Y8ZC3N4M9K7H2XA',
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
      extra: '{"key_id":"ed25519:AbC","sig":"mQ"}',
    });
  });

  test('RLY-2: any ops come back through their text, whatever they hold', () => {
    fc.assert(fc.property(fc.array(anyOp), (ops) => expect(decodeText(encodePush(ops))).toEqual(ops)));
  });

  test('RLY-2: members may come in any order, with blanks, and with keys written as escapes', () => {
    const members = Object.entries({ ...MEMBERS, domain: '"fact"', sig: '{"x":[1.0, "a b"]}' });
    const expected = decodeOne({ domain: '"fact"', sig: '{"x":[1.0,"a b"]}' });
    fc.assert(
      fc.property(fc.shuffledSubarray(members, { minLength: members.length }), (shuffled) => {
        const text = shuffled.map(([name, token]) => `\t"${escapeFirst(name)}" :\n${token} `).join();
        expect(decodeText(` { "ops" : [ {${text}} ] } `)).toEqual([{ ...expected, extra: expect.any(String) }]);
      }),
    );
    expect(decodeOne({ sig: ' { "x" : [ 1.0 , "a b" ] } ' })?.extra).toBe('{"sig":{"x":[1.0,"a b"]}}');
  });

  test('RLY-2: integers keep all 64 bits', () => {
    expect(decodeOne({ lamport: `${I64_MIN}`, site: `${I64_MAX}` })).toMatchObject({ lamport: I64_MIN, site: I64_MAX });
    expect(decodeOne({ envelope_version: '0' })?.envelopeVersion).toBe(0);
    expect(decodeOne({ envelope_version: '65535' })?.envelopeVersion).toBe(65535);
  });

  test.each(['1.0', '1e3', '"1"', 'null', 'true', '[]', '{}', '9223372036854775808', '-9223372036854775809', '-0'])(
    'RLY-2: %s is no lamport and no site',
    (token) => {
      for (const field of ['lamport', 'site']) {
        expect(refuseOne({ [field]: token })).toBe(`invalid: ops[0].${field}: expected a signed 64-bit integer`);
      }
    },
  );

  test.each(['-1', '65536', '1.0', '"1"', 'null', '1e400'])('RLY-2: %s is no envelope version', (token) => {
    expect(refuseOne({ envelope_version: token })).toBe(
      'invalid: ops[0].envelope_version: expected an integer from 0 to 65535',
    );
  });

  test('RLY-1: every field but value and domain is required, and the missing one is named with its op', () => {
    for (const { name, required } of OP_FIELDS) {
      const answer = refusal(() => decodeText(pushText(opText(), opText({ [name]: undefined }))));
      expect(answer).toBe(required ? `invalid: ops[1].${name}: missing` : 'accepted');
    }
  });

  test('RLY-1: a known field given twice is refused, also when it is spelled with an escape', () => {
    for (const { name } of OP_FIELDS) {
      const again = `${opText({ domain: '"fact"' }).slice(0, -1)},"${escapeFirst(name)}":${MEMBERS[name] ?? '"x"'}}`;
      expect(refuse(pushText(again))).toBe(`invalid: ops[0].${name}: given twice`);
    }
  });

  test('RLY-1: texts must be strings; only value may be null', () => {
    for (const { name, kind } of OP_FIELDS.filter(({ kind }) => kind.startsWith('text'))) {
      for (const token of ['1', 'true', '["x"]', '{"x":1}', 'null']) {
        const answer = refuseOne({ [name]: token });
        if (name === 'value' && token === 'null') expect(answer).toBe('accepted');
        else
          expect(answer).toBe(`invalid: ops[0].${name}: expected ${kind === 'text' ? 'a string' : 'a string or null'}`);
      }
    }
    expect(decodeOne({ value: undefined })?.value).toBeNull();
    expect(decodeOne({ value: 'null' })?.value).toBeNull();
    expect(decodeOne({ value: '""' })?.value).toBe('');
    expect(decodeOne({ domain: '"task"' })?.domain).toBe('task');
  });

  test('RLY-2: unknown fields keep their tokens, sorted by UTF-8 bytes; of a repeated one the last value stays', () => {
    const extra = decodeOne({ '😀': '1', '\uffff': '1.0', Z: '[1e400,"\\u0041"]', a: '1', __proto__x: 'null' })?.extra;
    expect(extra).toBe('{"Z":[1e400,"\\u0041"],"__proto__x":null,"a":1,"\uffff":1.0,"😀":1}');
    const repeated = `${opText().slice(0, -1)},"b":1,"sig":{"b":2,"b":3},"\\u0062":{"a":-0}}`;
    expect(decodeText(pushText(repeated))[0]?.extra).toBe('{"\\u0062":{"a":-0},"sig":{"b":2,"b":3}}');
  });

  // kills: op-decode.ts: new OpDraft(this.#scan, OP_EXTRA_MEMBERS_MAX) => new OpDraft(this.#scan)
  test('RLY-2, OPS-4: an op may have 1000 unknown members; one more is refused by place, while a stored one is read', () => {
    const unknown = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`u${i}`, '1']));
    const full = decodeOne(unknown(OP_EXTRA_MEMBERS_MAX));
    expect(Object.keys(JSON.parse(full!.extra) as object)).toHaveLength(1000);
    const over = opText(unknown(OP_EXTRA_MEMBERS_MAX + 1));
    const problem = 'invalid: ops[1]: more than 1000 unknown members';
    expect(refuse(pushText(opText(), over, opText({ lamport: '"1"' })))).toBe(problem);
    expect(refuse(pushText(opText(), over.replace(/u\d+/g, 'u')))).toBe(problem);
    expect(decodePage(bytesOf(`{"ops":[${over}],"next":1}`)).ops[0]?.extra).toHaveLength(full!.extra.length + 10);
  });

  // kills: op-decode.ts: this.#extraLeft -= draft.extraCount => this.#extraLeft -= 0
  test('RLY-2, OPS-4: the ops of a push may have 20,000 unknown members together; with more, fewer ops fit', () => {
    const op = (members: number) =>
      opText(Object.fromEntries(Array.from({ length: members }, (_, i) => [`u${i}`, '1'])));
    const many = Array.from({ length: PUSH_EXTRA_MEMBERS_MAX / 1000 }, () => op(1000));
    expect(decodeText(pushText(...many, op(0)))).toHaveLength(21);
    const problem = 'too_large: ops: more than 20000 unknown members in all';
    expect(refuse(pushText(...many, op(1), opText({ lamport: '"1"' })))).toBe(problem);
    expect(refuse(pushText(opText({ lamport: '"1"' }), ...many, op(1)))).toMatch(/^invalid: ops\[0\]/);
  });

  test('SEC-2: an op may carry __proto__ and constructor and touches no prototype', () => {
    const [op] = decodeText(pushText(`${opText().slice(0, -1)},"__proto__":{"lamport":9},"constructor":1}`));
    expect(op?.extra).toBe('{"__proto__":{"lamport":9},"constructor":1}');
    expect(op?.lamport).toBe(41n);
  });

  test.each([
    ['[]', 'expected an object'],
    ['null', 'expected an object'],
    ['"ops"', 'expected an object'],
    ['{}', 'ops: missing'],
    ['{"Ops":[]}', 'ops: missing'],
    ['{"ops":null}', 'ops: expected an array'],
    ['{"ops":{}}', 'ops: expected an array'],
    ['{"ops":[],"ops":[]}', 'ops: given twice'],
    ['{"ops":[1]}', 'ops[0]: expected an object'],
    ['{"ops":[[]]}', 'ops[0]: expected an object'],
    ['{"ops":[{}]}', 'ops[0].envelope_version: missing'],
  ])('RLY-1: %s has the wrong shape', (text, reason) => {
    expect(refuse(text)).toBe(`invalid: ${reason}`);
  });

  test('RLY-1: unknown members of the envelope are ignored and no ops are fine', () => {
    expect(decodeText('{"x":[{"ops":1}],"ops":[],"y":null}')).toEqual([]);
    expect(decodeText('\ufeff{"ops":[]}\n')).toEqual([]);
  });

  test('RLY-1: the first wrong thing of several is named', () => {
    expect(refuse(pushText(opText(), opText({ site: '1.5', author: '7' }), '3'))).toBe(
      'invalid: ops[1].site: expected a signed 64-bit integer',
    );
  });

  test('RLY-1: 1000 ops are read; 1001 are too large, whatever is in them', () => {
    expect(decodeText(pushText(...Array<string>(PUSH_OPS_MAX).fill(opText())))).toHaveLength(PUSH_OPS_MAX);
    expect(refuse(pushText(...Array<string>(PUSH_OPS_MAX + 1).fill('{"op_id":7}')))).toBe(
      'too_large: ops: 1001, and 1000 is the most',
    );
    expect(refuse(`{"ops":[${'0,'.repeat(1_000_000)}0]}`)).toMatch('too_large: ops: 1000001');
    expect(refuse(`{"ops":[${'0,'.repeat(1_000_000)}0}`)).toMatch('malformed: ');
  });

  test('RLY-2: what is no JSON is malformed, whatever else is wrong', () => {
    for (const text of ['', '{', '{"ops":[{}', '{"ops":7', '{"ops":[]}{}', '{"ops":[{"site":"x",}]}']) {
      expect(refuse(text)).toMatch(/^malformed: invalid json: /);
    }
    expect(refuseOne({ op_id: '"\\ud800"' })).toMatch('malformed: invalid json: lone surrogate');
    expect(refuseOne({ sig: '{"\\udc00":1}' })).toMatch('malformed: invalid json: lone surrogate');
    expect(refusal(() => decodePush(Uint8Array.of(0x7b, 0xff, 0x7d)))).toMatch('malformed: ');
  });

  test('RLY-2: a body cut at any byte is malformed, never a crash', () => {
    const op = opText({ value: '"é😀\\n\\ud83d\\ude00"', sig: '{"a":[1.5e3,null,{"b":"\\u00e9"}]}', domain: '"fact"' });
    const body = bytesOf(pushText(opText(), op));
    for (let end = 0; end < body.length; end++) {
      expect([end, refusal(() => decodePush(body.subarray(0, end)))]).toEqual([
        end,
        expect.stringMatching(/^malformed: /),
      ]);
    }
  });

  test('RLY-2: a damaged body is malformed exactly when it is no JSON, and else read or invalid', () => {
    const body = bytesOf(pushText(opText({ value: '"é\\n"', sig: '[1.5e3,null,{"a":"\\ud83d\\ude00"}]' }), opText()));
    const anyDamage = fc.tuple(fc.nat(body.length - 1), fc.uint8Array({ maxLength: 3 }), fc.nat(3));
    fc.assert(
      fc.property(fc.array(anyDamage, { minLength: 1, maxLength: 2 }), (damages) => {
        let damaged = Buffer.from(body);
        for (const [at, put, cut] of damages) {
          damaged = Buffer.concat([damaged.subarray(0, at), put, damaged.subarray(at + cut)]);
        }
        const answer = refusal(() => decodePush(damaged));
        const asTree = refusal(() => readJson(decodeUtf8(damaged)));
        if (asTree === 'accepted') expect(answer).toMatch(/^(?:accepted|invalid: ops)/);
        else expect(answer).toBe(asTree);
      }),
      { numRuns: 3000 },
    );
  });

  test('RLY-2: deep nesting is refused wherever it stands', () => {
    for (const text of ['['.repeat(10_000_000), `{"ops":${'['.repeat(1e6)}`, `{"ops":[{"x":${'{"a":'.repeat(1e6)}`]) {
      expect(refuse(text)).toMatch('malformed: invalid json: nested deeper than 512');
    }
  });
});

describe('encodeOp', () => {
  test('RLY-1: any unknown members are served after the fields, and the whole is read again as the same op', () => {
    fc.assert(
      fc.property(anyOp, anyKey, anyJson, (op, key, value) => {
        if (OP_FIELDS.some(({ name }) => name === key)) return;
        const extra = `{${JSON.stringify(key)}:${writeJson(value)}}`;
        expect(decodeText(pushText(encodeOp({ ...op, extra })))).toEqual([{ ...op, extra }]);
      }),
    );
  });
});

function escapeFirst(name: string): string {
  return `\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}`;
}
