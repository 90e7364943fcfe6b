import { readContentType } from './content-type.ts';

const OFFERED =
  'ingest requires one of application/json, application/x-ndjson, application/ndjson, application/jsonl, application/jsonlines';
const errorOf = (header: Parameters<typeof readContentType>[0]) => {
  const type = readContentType(header);
  if (type.kind === 'supported') throw new Error(`supported as ${type.format}`);
  return type.error;
};

test.each([
  ['application/json', 'json'],
  ['application/x-ndjson', 'ndjson'],
  ['application/ndjson', 'ndjson'],
  ['application/jsonl', 'ndjson'],
  ['application/jsonlines', 'ndjson'],
])('ING-1: %s declares %s', (header, format) => {
  expect(readContentType(header)).toEqual({ kind: 'supported', format });
});

test.each([
  'application/json; charset=utf-8',
  ' application/JSON ;',
  'application/json\t;x',
  'application/json;;=";',
  ['application/json', 'application/json; charset=utf-8'],
])('ING-1: case, blanks, broken parameters and agreeing repeats do not matter: %j', (header) => {
  expect(readContentType(header)).toEqual({ kind: 'supported', format: 'json' });
});

test.each([undefined, []])('ING-1: no content type is refused with what is offered', (header) => {
  expect(errorOf(header)).toBe(`no Content-Type: ${OFFERED}`);
});

test.each(['', 'text/plain', 'text/csv', 'application', 'application/json+x', '\u00a0application/json', 'null'])(
  'ING-1: another content type is refused: %j',
  (header) => {
    expect(errorOf(header)).toBe(`Content-Type ${JSON.stringify(header)}: ${OFFERED}`);
  },
);

test.each([
  'application/json, application/x-ndjson',
  'application/json, application/json',
  'application/json; a="b,c"',
])('ING-1: a comma may hide a second declaration and is refused: %s', (header) => {
  expect(errorOf(header)).toMatch(/^Content-Type "/);
});

test('ING-1: repeated headers that disagree are refused, naming each once', () => {
  expect(errorOf(['application/json', 'application/x-ndjson', 'application/json'])).toBe(
    `conflicting Content-Type declarations "application/json", "application/x-ndjson": ${OFFERED}`,
  );
  expect(errorOf(['application/json', 'text/plain'])).toMatch(/^conflicting/);
});

test('ING-1: an answer quotes at most 4 declarations, each cut at 128 bytes between characters', () => {
  const many = Array.from({ length: 7 }, (_, i) => `${i}${'é'.repeat(100)}`);
  const error = errorOf(many);
  expect(error).toContain(`"3${'é'.repeat(63)}" …and 3 more`);
  expect(error).not.toContain('"4');
});
