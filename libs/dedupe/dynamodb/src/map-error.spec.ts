import { Fault } from '@tidemark/libs-kernel';
import { gravestOf, isPassing, mapError, throwJoined } from './map-error.ts';
import { sdkError } from './spec-table.ts';

const named = (name: string) => sdkError(name);
const ofSocket = (code: string) => Object.assign(new Error(`connect ${code} 10.0.0.1:443`), { code });
/** What a title says of it. */
const told = (errors: readonly Error[]) => errors.map((error) => ({ what: error.message, error }));

describe('mapError', () => {
  // kills: map-error.ts: if (nameOf(thrown) === 'DeadlinePassed') return SILENT; => void SILENT;
  test.each(
    told([
      named('ThrottlingException'),
      named('TransactionConflictException'),
      named('RequestTimeoutException'),
      named('InternalServerError'),
      named('DeadlinePassed'),
      Object.assign(new Error('aborted'), { name: 'AbortError' }),
      ofSocket('ECONNREFUSED'),
    ]),
  )('DDP-6: $what may pass: unavailable, and repeated at once', ({ error: thrown }) => {
    expect(mapError(thrown, 'ids', 'not-done')).toMatchObject({ code: 'unavailable', cause: thrown });
    expect(isPassing(thrown)).toBe(true);
  });

  // kills: map-error.ts: meaning?.code === 'internal' ? UNFIT : meaning => meaning
  test.each(
    told([
      named('ResourceNotFoundException'),
      named('AccessDeniedException'),
      named('ValidationException'),
      named('ExpiredTokenException'),
      named('SomethingElse'),
    ]),
  )('DDP-6: $what does not pass: misconfigured, and not repeated', ({ error: thrown }) => {
    expect(mapError(thrown, 'ids', 'not-done')).toMatchObject({ code: 'misconfigured', cause: thrown });
    expect(isPassing(thrown)).toBe(false);
  });

  test('DDP-6: a signature that is too old or too new is repeated: the SDK has learned the time from it', () => {
    for (const name of ['InvalidSignatureException', 'RequestTimeTooSkewed']) {
      expect(isPassing(named(name))).toBe(true);
      expect(mapError(named(name), 'ids', 'not-done').code).toBe('misconfigured');
    }
  });

  test('SEC-1: the text names the table and the exception, and no address', () => {
    const texts = [named('ThrottlingException'), ofSocket('ECONNREFUSED')].map(
      (thrown) => mapError(thrown, 'ids', 'not-done').message,
    );
    expect(texts).toEqual([
      'the dedupe table "ids" takes no more now (ThrottlingException)',
      'the dedupe table "ids" does not answer (ECONNREFUSED)',
    ]);
  });

  test('OPS-6: a fault passes through, what is nobody of DynamoDB is internal, and the outcome is the call’s', () => {
    const fault = new Fault('deadline', 'late');
    expect(mapError(fault, 'ids', 'not-done')).toBe(fault);
    expect(mapError(new TypeError('x is not a function'), 'ids', 'unknown')).toMatchObject({ code: 'internal' });
    expect(mapError(ofSocket('ECONNRESET'), 'ids', 'unknown').outcome).toBe('unknown');
  });
});

// kills: map-error.ts: faults.find(({ code }) => code !== 'unavailable') ?? faults[0] => faults[0]
test('DDP-6: of several faults the one that does not pass speaks, and all stay reachable', () => {
  const passing = new Fault('unavailable', 'throttled');
  const lasting = new Fault('misconfigured', 'denied');
  throwJoined([]);
  expect(() => throwJoined([passing])).toThrow(passing);
  expect(gravestOf([passing, lasting])).toBe(lasting);
  const joined = { code: 'misconfigured', message: 'denied', cause: { errors: [passing, lasting] } };
  expect(thrownBy(() => throwJoined([passing, lasting]))).toMatchObject(joined);
});

function thrownBy(call: () => void): unknown {
  try {
    return call();
  } catch (thrown) {
    return thrown;
  }
}
