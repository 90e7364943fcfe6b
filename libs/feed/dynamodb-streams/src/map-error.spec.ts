import { Fault } from '@tidemark/libs-kernel';
import { isThrottled, mapError } from './map-error.ts';

const named = (name: string, more: object = {}) => Object.assign(new Error('said'), { name, ...more });

test.each([
  ['ProvisionedThroughputExceededException', 'unavailable'],
  ['LimitExceededException', 'unavailable'],
  ['TimeoutError', 'unavailable'],
  ['AbortError', 'unavailable'],
  ['ResourceNotFoundException', 'misconfigured'],
  ['AccessDeniedException', 'misconfigured'],
  ['ExpiredTokenException', 'misconfigured'],
  ['TypeError', 'internal'],
])('FLD-4: %s is the fault %s', (name, code) => {
  expect(mapError(named(name), 'the stream s')).toMatchObject({ code, cause: expect.anything() });
});

test('FLD-4: errors of the server, and connections that break, are unavailable; what it refuses is a defect', () => {
  const status = (httpStatusCode: number) => named('Whatever', { $metadata: { httpStatusCode } });
  expect(mapError(status(503), 's')).toMatchObject({ code: 'unavailable', retryAfterMs: 1000 });
  expect(mapError(named('Error', { code: 'ECONNRESET' }), 's').code).toBe('unavailable');
  expect(mapError(status(400), 'the stream s')).toMatchObject({
    code: 'internal',
    message: 'the stream s refused what was sent (Whatever: said)',
  });
});

test('FLD-4: a fault stays as it is, and throttling is told apart', () => {
  const fault = new Fault('corrupt', 'c');
  expect(mapError(fault, 's')).toBe(fault);
  expect([isThrottled(named('LimitExceededException')), isThrottled(named('TimeoutError'))]).toEqual([true, false]);
});
