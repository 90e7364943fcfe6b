import { RESULTS_MAX } from '@tidemark/libs-kernel';
import { type RecordResult, Tally, refuse } from './answer.ts';

const stored = (op: string | null): RecordResult => ({ kind: 'stored', op });
const duplicate = (op: string | null): RecordResult => ({ kind: 'duplicate', op });
const failed: RecordResult = { kind: 'failed', status: 413, error: 'too "big"' };

function tallyOf(...results: RecordResult[]): Tally {
  const tally = new Tally();
  tally.add(results);
  return tally;
}

test('ING-1, FLD-8: one object is answered with its verdict, its op id in a header', () => {
  expect(tallyOf(stored('ab')).single()).toEqual({
    status: 200,
    body: '{"ok":true}',
    headers: { 'Tidemark-Op': 'ab' },
  });
  expect(tallyOf(duplicate('ab')).single()).toEqual({
    status: 200,
    body: '{"duplicate":true}',
    headers: { 'Tidemark-Op': 'ab' },
  });
  expect(tallyOf(stored(null)).single()).toEqual({ status: 200, body: '{"ok":true}', headers: {} });
});

test('ING-1, OPS-6: one object that is refused is answered with its own status', () => {
  expect(tallyOf(failed).single()).toEqual({
    status: 413,
    body: '{"error":"too \\"big\\""}',
    headers: { 'Tidemark-Outcome': 'not-done' },
  });
});

test('ING-1, FLD-8: a batch is answered with exact counts and one result per record, in order, across windows', () => {
  const tally = tallyOf(stored('ab'), failed);
  tally.add([duplicate('cd'), stored(null), duplicate(null)]);
  expect(tally.batch()).toEqual({
    status: 200,
    headers: {},
    body:
      '{"total":5,"succeeded":2,"failed":1,"duplicates":2,"results":[' +
      '{"index":1,"ok":true,"op":"ab"},{"index":2,"error":"too \\"big\\""},{"index":3,"duplicate":true,"op":"cd"},' +
      '{"index":4,"ok":true},{"index":5,"duplicate":true}]}',
  });
});

test('ING-1: an empty batch has results, and none', () => {
  expect(tallyOf().batch().body).toBe('{"total":0,"succeeded":0,"failed":0,"duplicates":0,"results":[]}');
});

test('ING-1: results end at 10,000, counts stay exact', () => {
  const tally = new Tally();
  for (let i = 0; i < 41; i++) tally.add(Array<RecordResult>(250).fill(i === 40 ? failed : stored(null)));
  const { results, ...counts } = JSON.parse(tally.batch().body);
  expect(counts).toEqual({ total: 10_250, succeeded: 10_000, failed: 250, duplicates: 0 });
  expect(results).toHaveLength(RESULTS_MAX);
  expect(results.at(-1)).toEqual({ index: RESULTS_MAX, ok: true });
});

test('ING-1, OPS-6: a refusal says what is known, and whole seconds to wait, rounded up', () => {
  expect(refuse(503, 'later', { retryAfterMs: 29_001, outcome: 'partly' })).toEqual({
    status: 503,
    body: '{"error":"later"}',
    headers: { 'Tidemark-Outcome': 'partly', 'Retry-After': '30' },
  });
  expect(refuse(500, 'no', { retryAfterMs: null }).headers).toEqual({ 'Tidemark-Outcome': 'not-done' });
});
