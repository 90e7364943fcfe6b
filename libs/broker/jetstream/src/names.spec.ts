import { Names } from './names.ts';

const names = new Names('tidemark');
const ODD = ['acme', 'a.b', 'x *>', '%2E', '=2E', 'Ünï', '🙂', 'nul\0l', '../up', 'INGEST_0', 'a_INGEST_b'];

test.each(ODD)('SEC-2: tenant %j has a stream of its own, from which it is told again', (tenant) => {
  const stream = names.queueStream(tenant);
  expect(stream).toMatch(/^tidemark_INGEST_[A-Za-z0-9_=-]+$/);
  expect(names.tenantOf(stream)).toBe(tenant);
});

// kills: names.ts: EMPTY_TOKEN : escapeToken(table), TABLE => EMPTY_TOKEN : table, TABLE
test.each(['', ...ODD])('SEC-2: table %j is one token of a subject, from which it is told again', (table) => {
  const subject = names.queueSubject({ tenant: 'acme', table });
  expect(subject).toMatch(/^tidemark\.ingest\.acme\.[A-Za-z0-9_%-]+$/);
  expect(names.tableOf(subject)).toBe(table);
});

test('ING-9: streams of others are no queues of ours', () => {
  const others = [
    'tidemark_DLQ_a',
    'tidemark2_INGEST_a',
    'tidemark_INGEST_',
    'tidemark_INGEST_a=2',
    'tidemark_INGEST_=61',
  ];
  expect(others.map((stream) => names.tenantOf(stream))).toEqual(others.map(() => null));
});

test('BRK-1: a subject that nobody of ours wrote keeps its last token as the table', () => {
  expect(names.tableOf('tidemark.ingest.acme.%zz')).toBe('%zz');
  expect(names.tableOf('tidemark.ingest.acme.%2D')).toBe('-');
});

// kills: names.ts: if (name.length > lengthMax) => if (false)
test('SEC-2: a name that would cut the connection is refused before it is sent', () => {
  expect(() => names.queueStream('é'.repeat(100))).toThrow(expect.objectContaining({ code: 'invalid' }));
  expect(() => names.queueSubject({ tenant: 'a', table: 'x'.repeat(3000) })).toThrow(
    expect.objectContaining({ code: 'invalid' }),
  );
});
