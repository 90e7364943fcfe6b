import { newTrace, parseTraceparent, traceparentOf } from './trace-context.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

// kills: trace-context.ts: (Number.parseInt(flags, 16) & 1) === 1 => flags === '00'
test('OPS-1: a traceparent is read, and written as it was', () => {
  for (const flags of ['00', '01']) {
    const context = parseTraceparent(`00-${TRACE}-${SPAN}-${flags}`, 'a=1');
    expect(context).toEqual({ traceId: TRACE, spanId: SPAN, sampled: flags === '01', traceState: 'a=1' });
    expect(context && traceparentOf(context)).toBe(`00-${TRACE}-${SPAN}-${flags}`);
  }
  expect(parseTraceparent(`00-${TRACE}-${SPAN}-03`)?.sampled).toBe(true);
});

test('OPS-1: a later version is read as far as this one goes', () => {
  expect(parseTraceparent(`01-${TRACE}-${SPAN}-01-more`)?.traceId).toBe(TRACE);
  expect(parseTraceparent(`cc-${TRACE}-${SPAN}-01`)?.traceId).toBe(TRACE);
  expect(parseTraceparent(`cc-${TRACE}-${SPAN}-01.more`)).toBeNull();
});

// kills: trace-context.ts: (?!0{32}) => (?!x)
test.each([
  undefined,
  '',
  `00-${TRACE}-${SPAN}-01-more`,
  `ff-${TRACE}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${TRACE.slice(1)}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}-1`,
  ` 00-${TRACE}-${SPAN}-01`,
])('OPS-1: %j is no traceparent', (text) => {
  expect(parseTraceparent(text)).toBeNull();
});

test('OPS-1: a trace begins with an id of its own, which nobody records', () => {
  const [one, other] = [newTrace(), newTrace()];
  expect(one.traceId).not.toBe(other.traceId);
  expect(parseTraceparent(traceparentOf(one))).toEqual(one);
  expect(one.sampled).toBe(false);
});

test('a tracestate that is too long is not handed on', () => {
  expect(parseTraceparent(`00-${TRACE}-${SPAN}-01`, 'x'.repeat(513))?.traceState).toBeUndefined();
});
