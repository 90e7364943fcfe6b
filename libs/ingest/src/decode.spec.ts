import fc from 'fast-check';
import { INGEST_BODY_BYTES_MAX } from '@tidemark/libs-kernel';
import type { BodyFormat } from './content-type.ts';
import { decode } from './decode.ts';

const bytes = (text: string) => Buffer.from(text, 'utf8');
const BOM = '\uFEFF';

/** The records' texts, `!error` for an unreadable one; or the refusal. */
function read(format: BodyFormat, body: string | Uint8Array) {
  const decoded = decode(format, typeof body === 'string' ? bytes(body) : body);
  if (decoded.kind === 'refused') return [decoded.status, decoded.error];
  const records = decoded.kind === 'single' ? [decoded.record] : [...decoded.records];
  return records.map((record) => (record.kind === 'text' ? record.text : `!${record.error}`));
}

test.each(['', ' \r\n\t ', BOM, `${BOM}\n`])('ING-1: a body of nothing is refused by format: %j', (body) => {
  expect(read('json', body)).toEqual([400, 'empty body']);
  expect(read('ndjson', body)).toEqual([400, 'empty ndjson body']);
});

test('ING-1: a body above 16 MiB is refused; 16 MiB is read', () => {
  expect(read('ndjson', new Uint8Array(INGEST_BODY_BYTES_MAX + 1))).toEqual([
    413,
    'request body exceeded 16777216 bytes',
  ]);
  expect(read('ndjson', new Uint8Array(INGEST_BODY_BYTES_MAX).fill(0x20))).toEqual([400, 'empty ndjson body']);
});

test('ING-1: the first byte that is no white space tells one object from an array', () => {
  expect(decode('json', bytes(' {"a":1}'))).toEqual({ kind: 'single', record: { kind: 'text', text: ' {"a":1}' } });
  expect(decode('json', bytes('\r\n [ ]')).kind).toBe('batch');
  expect(read('json', '[]')).toEqual([]);
  expect(read('json', '[ {"a": 1} ,2,"x"]')).toEqual(['{"a": 1}', '2', '"x"']);
});

test.each(['[{"a":1},]', '[,{"a":1}]', '[{"a":1},,{"b":2}]', '[,]'])(
  'ING-1, ING-11: an empty element refuses the whole array: %s',
  (body) => {
    expect(read('json', body)).toEqual([400, 'invalid json: empty element in the json array']);
  },
);

test.each(['[', '[{"a":1}', '[{"a":1},', '[{"a":1},{"b"', '[{"a":"[]'])(
  'ING-11: an array that does not end is refused whole: %s',
  (body) => {
    expect(read('json', body)).toEqual([400, 'invalid json: unterminated json array']);
  },
);

test.each(['[{"a":1}{"b":2}]', '[{"a":}]', '[{"a":1}] x', '[1]]', '[{"a":01}]'])(
  'ING-11: an array with a syntax error is refused whole: %s',
  (body) => {
    const [status, error] = read('json', body);
    expect(status).toBe(400);
    expect(error).toMatch(/^invalid json: /);
  },
);

test('ING-7, J1: one byte order mark at the start is dropped, a second one is data', () => {
  expect(read('json', `${BOM}{"a":1}`)).toEqual(['{"a":1}']);
  expect(read('json', `${BOM}[1]`)).toEqual(['1']);
  expect(read('ndjson', `${BOM}{"a":1}\n${BOM}{"b":2}`)).toEqual(['{"a":1}', `${BOM}{"b":2}`]);
  expect(read('ndjson', `${BOM}${BOM}1`)).toEqual([`${BOM}1`]);
});

test('J2: a byte order mark before three lines leaves three records', () => {
  expect(read('ndjson', `${BOM}1\n2\n3\n`)).toEqual(['1', '2', '3']);
});

test.each(['\u2028', '\u2029', '\u0085', '\v', '\f', '\r'])('J4: only LF ends a line, %j does not', (separator) => {
  expect(read('ndjson', `{"a":"x${separator}y"}\n{"b":1}`)).toEqual([`{"a":"x${separator}y"}`, '{"b":1}']);
});

test('J5: CRLF, blank lines, blanks around records and a missing last LF are no records of their own', () => {
  expect(read('ndjson', '1\r\n\r\n \t\n2\n\n\n3').map((text) => String(text).trim())).toEqual(['1', '2', '3']);
});

// kills: decode.ts: yield line === null ? null : mark + line; => yield mark + String(line);
test('RLY-2, ING-11: a line that is not UTF-8 fails alone', () => {
  const body = Buffer.concat([bytes(`${BOM}1\n`), Buffer.from([0x22, 0xc3, 0x28, 0x22]), bytes(`\n\n2\n${BOM}3`)]);
  expect(read('ndjson', body)).toEqual(['1', '!invalid json: the line is not UTF-8', '2', `${BOM}3`]);
});

test.each([
  [[0x7b, 0x22, 0xff, 0x22, 0x7d]],
  [[0x5b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x5d]],
  [[0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]],
])('RLY-2: a JSON body that is not UTF-8 is refused whole: %j', (body) => {
  const [status, error] = read('json', Uint8Array.from(body));
  expect(status).toBe(400);
  expect(error).toMatch(/^invalid json: /);
});

test('J4, J5: however a body is cut into lines, decoding it at once or line by line finds the same records', () => {
  const piece = fc.constantFrom('\n', '\r', ' ', BOM, '\u2028', 'é', '😀', '{"a":1}', '""', '\t');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const text = pieces.join('');
      const whole = read('ndjson', text);
      // A bad last line forces the slow way.
      const slow = read('ndjson', Buffer.concat([bytes(`${text}\n`), Buffer.from([0xff])]));
      expect(slow).toEqual([...(whole[0] === 400 ? [] : whole), '!invalid json: the line is not UTF-8']);
    }),
  );
});

test('ING-11: an object that is spread over lines of NDJSON is as many broken records', () => {
  expect(read('ndjson', '{\n "a": 1\n}\n{"b":2}')).toEqual(['{', ' "a": 1', '}', '{"b":2}']);
});
