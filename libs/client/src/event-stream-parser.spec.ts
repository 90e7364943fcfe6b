import fc from 'fast-check';
import { EventStreamParser, type StreamItem } from './event-stream-parser.ts';

function parse(...pieces: string[]): StreamItem[] {
  const parser = new EventStreamParser();
  return pieces.flatMap((piece) => [...parser.push(piece)]);
}

const STREAM =
  'retry: 1500\n\n:\n\nid: 7\r\nevent: x\rdata: {"a":1}\r\ndata:two\n\r\ndata\n\n: beat\n\nid: 9\n\ndata: left';
const ITEMS: StreamItem[] = [
  { kind: 'retry', ms: 1500 },
  { kind: 'comment' },
  { kind: 'event', data: '{"a":1}\ntwo' },
  { kind: 'event', data: '' },
  { kind: 'comment' },
];

test('events, comments and the time to come again are read, and an event that is not complete is none', () => {
  expect(parse(STREAM)).toEqual(ITEMS);
  expect(parse('retry: soon\n\ndata:  a\n\n')).toEqual([{ kind: 'event', data: ' a' }]);
});

test('a stream may be cut anywhere', () => {
  const cut = fc.array(fc.nat({ max: STREAM.length }), { maxLength: 6 });
  fc.assert(
    fc.property(cut, (places) => {
      const sorted = [0, ...places.sort((a, b) => a - b), STREAM.length];
      expect(parse(...sorted.slice(1).map((to, i) => STREAM.slice(sorted[i], to)))).toEqual(ITEMS);
    }),
  );
  expect(parse(...STREAM)).toEqual(ITEMS);
});
