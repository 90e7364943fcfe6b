import type { _Record } from '@aws-sdk/client-dynamodb-streams';
import { I64_MAX } from '@tidemark/libs-wire';
import { highestOf, readPage, readRecord } from './records.ts';

const record = (seq: string, more: object = {}, eventName: 'INSERT' | 'MODIFY' | 'REMOVE' = 'INSERT'): _Record => ({
  eventName,
  dynamodb: { Keys: { stream_id: { S: 's#%\u0000\u{1F600}' }, seq: { N: seq } }, ...more },
});
const STREAM = 's#%\u0000\u{1F600}';

test('F23: an op names its place, whatever the stream shows of it and whatever its stream is called', () => {
  for (const more of [{}, { NewImage: { op_id: { S: 'x' } } }, { OldImage: {} }])
    expect(readRecord(record('7', more))).toEqual({ kind: 'op', change: { stream: STREAM, head: 7n } });
  expect(readRecord(record(String(I64_MAX))).change?.head).toBe(I64_MAX);
});

test('F23: the counter names the highest seq given', () => {
  const counter = (next_seq: object) => readRecord(record('0', { NewImage: { next_seq } }, 'MODIFY'));
  expect(counter({ N: '9007199254740993' })).toEqual({
    kind: 'counter',
    change: { stream: STREAM, head: 9007199254740993n },
  });
  expect(counter({ N: '0' })).toEqual({ kind: 'counter', change: null });
  expect(readRecord(record('0'))).toEqual({ kind: 'counter', change: null });
});

// kills: records.ts: if (eventName === 'REMOVE') => if (eventName === undefined)
test('F23: what is removed, by hand or by a time to live, names nothing; nor does a claim', () => {
  for (const seq of ['-5', '0', '7']) expect(readRecord(record(seq, {}, 'REMOVE')).kind).toBe('removed');
  expect(readRecord(record('-5'))).toEqual({ kind: 'claim', change: null });
});

test.each([
  ['no keys', { eventName: 'INSERT', dynamodb: {} }],
  ['nothing at all', {}],
  ['a stream that is a number', { dynamodb: { Keys: { stream_id: { N: '1' }, seq: { N: '1' } } } }],
  ['a seq that is a text', { dynamodb: { Keys: { stream_id: { S: 's' }, seq: { S: '1' } } } }],
  ['a seq that is no integer', record('1.5')],
  ['a seq above 64 bits', record('9223372036854775808')],
  ['a counter of another shape', record('0', { NewImage: { next_seq: { S: '5' } } })],
  ['a counter below zero', record('0', { NewImage: { next_seq: { N: '-5' } } })],
  ['a counter without a number', record('0', { NewImage: {} })],
])('F23: %s is an unknown kind of item, and names nothing', (_, one) => {
  expect(readRecord(one as _Record)).toEqual({ kind: 'unknown', change: null });
});

test('FLD-9: a page names each stream once, with the highest head, in any order, and ends at its last record', () => {
  const of = (seq: string, SequenceNumber: string) =>
    record(seq, { SequenceNumber, ApproximateCreationDateTime: new Date(5000) });
  expect(readPage([of('3', '10'), of('1', '11'), of('-1', '12'), of('2', '13')])).toEqual({
    changes: [{ stream: STREAM, head: 3n }],
    kinds: new Map([
      ['op', 3],
      ['claim', 1],
    ]),
    last: '13',
    madeAtMs: 5000,
  });
  expect(readPage([])).toEqual({ changes: [], kinds: new Map(), last: null, madeAtMs: null });
  expect(highestOf([])).toEqual([]);
});
