import { assert, unreachable } from './assert.ts';
import { Fault, asFault } from './fault.ts';

test('OPS-6: a fault says what is known of the work; only an unknown outcome and a defect say unknown by themselves', () => {
  expect(new Fault('unavailable', 'busy').outcome).toBe('not-done');
  expect(new Fault('unknown_outcome', 'no answer').outcome).toBe('unknown');
  expect(new Fault('internal', 'defect').outcome).toBe('unknown');
  expect(new Fault('unavailable', 'half', { outcome: 'partly', retryAfterMs: 5 })).toMatchObject({
    outcome: 'partly',
    retryAfterMs: 5,
  });
});

test('anything thrown becomes a fault that keeps its cause', () => {
  const fault = new Fault('invalid', 'x');
  expect(asFault(fault)).toBe(fault);
  const error = new Error('boom');
  expect(asFault(error)).toMatchObject({ code: 'internal', message: 'boom', cause: error });
  expect(asFault('text')).toMatchObject({ code: 'internal', message: 'text' });
});

test('assert and unreachable throw what they were told', () => {
  expect(() => assert(1 > 0, 'order')).not.toThrow();
  expect(() => assert(false, 'order')).toThrow('assertion failed: order');
  expect(() => unreachable('x' as never)).toThrow('unreachable: x');
});
