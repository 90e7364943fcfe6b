import { Fault } from '@tidemark/libs-kernel';
import { faultOf, mapError, mapWriteError } from './map-error.ts';
import { answerOf, isCertain } from './meaning.ts';

function thrown(name: string, fields: object = { $metadata: { httpStatusCode: 400, attempts: 1 } }): Error {
  return Object.assign(new Error('as it was said\nin two lines'), { name, ...fields });
}

const REFUSED = [
  ['AccessDeniedException', 'misconfigured'],
  ['ResourceNotFoundException', 'misconfigured'],
  ['UnrecognizedClientException', 'misconfigured'],
  ['InvalidSignatureException', 'misconfigured'],
  ['ExpiredTokenException', 'misconfigured'],
  ['RequestTimeTooSkewed', 'misconfigured'],
  ['CredentialsProviderError', 'misconfigured'],
  ['ValidationException', 'misconfigured'],
  ['IdempotentParameterMismatchException', 'internal'],
  ['TransactionCanceledException', 'internal'],
  ['SomethingNewException', 'internal'],
] as const;

const THROTTLED = [
  'ThrottlingException',
  'Throttling',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'RequestThrottled',
  'LimitExceededException',
  'TooManyRequestsException',
  'TransactionConflictException',
  'ReplicatedWriteConflictException',
];

const SILENT: readonly Error[] = [
  thrown('TransactionInProgressException'),
  thrown('InternalServerError', { $metadata: { httpStatusCode: 500 } }),
  thrown('ServiceUnavailable', { $metadata: { httpStatusCode: 503 } }),
  thrown('SomethingNew', { $fault: 'server' }),
  thrown('RequestTimeout'),
  thrown('TimeoutError', { $metadata: { attempts: 3 } }),
  thrown('AbortError', {}),
  thrown('Error', { code: 'ECONNREFUSED' }),
  thrown('Error', { code: 'ENOTFOUND', $metadata: { attempts: 3 } }),
  // An answer that nobody can read.
  thrown('SyntaxError', { $metadata: { attempts: 1 } }),
];

describe('what DynamoDB, the SDK or the network said', () => {
  // kills: meaning.ts: const denied: Meaning = { code: 'misconfigured' => const denied: Meaning = { code: 'unavailable'
  it.each(REFUSED)('DDP-6: %s is %s, of a read and of a write, and nothing is done', (name, code) => {
    for (const map of [mapError, mapWriteError])
      expect(map(thrown(name), 'ops')).toMatchObject({
        code,
        outcome: 'not-done',
        message: expect.stringMatching(
          new RegExp(`^the DynamoDB table "ops" .*\\(${name}: as it was said in two lines\\)$`),
        ),
      });
  });

  it.each(THROTTLED)('DDP-6, D8: %s is unavailable, with a time to come back, and nothing is done', (name) => {
    for (const map of [mapError, mapWriteError])
      expect(map(thrown(name), 'ops')).toMatchObject({ code: 'unavailable', outcome: 'not-done', retryAfterMs: 1000 });
    expect(answerOf(thrown(name))).toBe('throttled');
  });

  // kills: meaning.ts: export const SILENT: Meaning = { code: 'unavailable' => export const SILENT: Meaning = { code: 'internal'
  it.each(SILENT.map((error) => [error.name, error] as const))(
    'D1, D2, OPS-6: no answer (%s) is unavailable, and of a write with an unknown outcome',
    (_, error) => {
      expect(mapError(error, 'ops')).toMatchObject({ code: 'unavailable', outcome: 'not-done', retryAfterMs: 1000 });
      expect(mapWriteError(error, 'ops')).toMatchObject({
        code: 'unavailable',
        outcome: 'unknown',
        retryAfterMs: 1000,
        message: expect.stringMatching(/^the DynamoDB table "ops" .*; the write may be stored$/),
      });
      expect(isCertain(error)).toBe(false);
    },
  );

  // kills: meaning.ts: && attemptsOf(thrown) <= 1 => && true
  it('D1, OPS-6: a refusal is certain only of the first attempt', () => {
    const attempts = (n: number) => thrown('ThrottlingException', { $metadata: { attempts: n } });
    expect([isCertain(attempts(1)), isCertain(attempts(2))]).toEqual([true, false]);
    expect(mapWriteError(attempts(2), 'ops')).toMatchObject({ code: 'unavailable', outcome: 'unknown' });
    expect(mapError(attempts(2), 'ops')).toMatchObject({ code: 'unavailable' });
  });

  it('OPS-6: a fault stays what it is, and a defect of ours is internal', () => {
    const fault = new Fault('corrupt', 'was said already');
    expect([mapError(fault, 'ops'), mapWriteError(fault, 'ops')]).toEqual([fault, fault]);
    for (const map of [mapError, mapWriteError])
      expect(map(new TypeError('x is not a function'), 'ops')).toMatchObject({ code: 'internal', outcome: 'unknown' });
    expect(mapError(undefined, 'ops')).toMatchObject({ code: 'internal' });
  });

  it('FLD-4: what is no table is called as the caller calls it', () => {
    const failing = thrown('InternalServerError', { $metadata: { httpStatusCode: 500 } });
    expect(faultOf(failing, 'the stream s').message).toMatch(/^the stream s cannot do it now \(InternalServerError: /);
    const broken = thrown('Error', { code: 'ECONNRESET' });
    expect(faultOf(broken, 'the stream s').message).toMatch(/^the stream s does not answer \(/);
  });
});
