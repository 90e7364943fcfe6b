import { bytesOf } from './arbitraries.ts';
import { decodeEvent, encodeEvent } from './event.ts';
import { decodePush } from './op-decode.ts';
import { encodePush } from './op-encode.ts';
import type { Op } from './op.ts';
import { opTraceparent, tracedExtra, traceparentsOf } from './op-trace.ts';

const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const op = (extra: string): Op => ({
  envelopeVersion: 1,
  opId: 'o',
  lamport: 1n,
  site: 0n,
  domain: 'event',
  targetKind: 't',
  targetId: 'i',
  field: 'body',
  opType: 'set',
  value: '{}',
  author: '',
  wallClock: '',
  extra,
});

// kills: op-trace.ts: `{"traceparent":"${traceparent}"}` => '{}'
test('OPS-1: an op carries its trace as an unknown member, on every way that an op takes', () => {
  const traced = op(tracedExtra(TRACEPARENT));
  const [read] = decodePush(bytesOf(new TextDecoder().decode(bytesOf(encodePush([traced])))));
  expect(read).toEqual(traced);
  expect(opTraceparent(read as Op)).toBe(TRACEPARENT);
  expect(tracedExtra(undefined)).toBe('{}');
});

// kills: op-trace.ts: isTraceparent(value) ? value : null => true ? value : null
test.each([
  '{}',
  '{"traceparent":7}',
  '{"traceparent":"x"}',
  `{"a":{"traceparent":"${TRACEPARENT}"}}`,
  `{"traceparent":"${TRACEPARENT}"`,
  '"traceparent"',
])('OPS-1: an op with %s continues no trace', (extra) => {
  expect(opTraceparent(op(extra))).toBeNull();
});

test('OPS-1: the traces of many ops are told once each', () => {
  const other = TRACEPARENT.replace('4b', '5c');
  const ops = [TRACEPARENT, other, undefined, TRACEPARENT].map((one) => op(tracedExtra(one)));
  expect(traceparentsOf(ops)).toEqual([TRACEPARENT, other]);
});

// kills: event.ts: ...(isTraceparent(traceparent) && { traceparent }), => ...{},
test('OPS-1: an event carries its trace; what is none is left out, and the event is kept', () => {
  const event = { table: 't', receivedTimestamp: 'r', id: null, entity: null, data: '{}' };
  const traced = encodeEvent({ ...event, traceparent: TRACEPARENT });
  expect(decodeEvent(traced)).toEqual({ ...event, traceparent: TRACEPARENT });
  const text = new TextDecoder().decode(traced);
  for (const other of ['7', 'null', '"x"', '{}', '""'])
    expect(decodeEvent(bytesOf(text.replace(`"${TRACEPARENT}"`, other)))).toEqual(event);
});
