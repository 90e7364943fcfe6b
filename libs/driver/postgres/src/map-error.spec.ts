import { mapError, WriteFailed, type WriteStage } from './map-error.ts';
import { USE } from './spec-database.ts';

const UNAVAILABLE = { code: 'unavailable', outcome: 'not-done' };
const UNKNOWN = { code: 'unknown_outcome', outcome: 'unknown' };

describe('what Postgres says becomes a fault', () => {
  const said = (code: string, severity = 'ERROR') => Object.assign(new Error('raw'), { code, severity });

  test.each([
    ['08006', 'unavailable', 'not-done'],
    ['22021', 'invalid', 'not-done'],
    ['23505', 'unavailable', 'not-done'],
    ['25006', 'unavailable', 'not-done'],
    ['28P01', 'misconfigured', 'not-done'],
    ['3D000', 'misconfigured', 'not-done'],
    ['40P01', 'unavailable', 'not-done'],
    ['40001', 'unavailable', 'not-done'],
    ['42501', 'misconfigured', 'not-done'],
    ['42601', 'internal', 'unknown'],
    ['53100', 'disk_full', 'not-done'],
    ['53300', 'unavailable', 'not-done'],
    ['54000', 'too_large', 'not-done'],
    ['55P03', 'unavailable', 'not-done'],
    ['57014', 'unavailable', 'not-done'],
    ['57P03', 'unavailable', 'not-done'],
    ['58030', 'unavailable', 'not-done'],
    ['XX000', 'internal', 'unknown'],
    ['XX001', 'corrupt', 'not-done'],
  ])('OPS-6: %s is %s, %s', (code, fault, outcome) => {
    expect(mapError(said(code), 'Postgres', USE)).toMatchObject({ code: fault, outcome });
  });

  // kills: map-error.ts: use.isTold(code) ? => false ?
  it('SEC-2: what is wrong with a value is said without the address and the words of the server', () => {
    const words = (code: string) => mapError(said(code), 'Postgres db.internal:5432/ops', USE).message;
    expect(words('54000')).toBe('Postgres cannot hold a thing of this size');
    expect(words('22021')).toBe('Postgres cannot store a character');
    expect(words('57014')).toBe('Postgres db.internal:5432/ops took too long (57014: raw)');
  });

  test.each(['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EPIPE'])('OPS-6: %s is unavailable', (code) => {
    expect(mapError(Object.assign(new Error('raw'), { code }), 'Postgres', USE)).toMatchObject(UNAVAILABLE);
  });

  it('OPS-6: a write that the server refused is not done; one that it did not answer is unknown', () => {
    const failed = (cause: Error, stage: WriteStage) => mapError(new WriteFailed(cause, stage), 'Postgres', USE);
    const lost = new Error('Connection terminated unexpectedly');
    expect(failed(said('57P01', 'FATAL'), 'transaction')).toMatchObject(UNAVAILABLE);
    expect(failed(said('57P01', 'FATAL'), 'commit')).toMatchObject(UNKNOWN);
    expect(failed(said('53100'), 'commit')).toMatchObject({ code: 'disk_full', outcome: 'not-done' });
    expect(failed(lost, 'transaction')).toMatchObject(UNKNOWN);
    expect(failed(lost, 'commit')).toMatchObject(UNKNOWN);
  });

  test.each([
    ['58030', 'PANIC'],
    ['58030', 'PANIK'],
    ['53100', 'PANIC'],
    ['08P01', 'FATAL'],
    ['57014', 'ERROR'],
  ])('OPS-6: a COMMIT that fails with %s as %s may be stored', (code, severity) => {
    const failed = new WriteFailed(said(code, severity), 'commit');
    expect(mapError(failed, 'Postgres', USE)).toMatchObject(UNKNOWN);
  });

  it('OPS-6: a pooler that does not reach its server is unavailable; what it passed on before may be stored', () => {
    const pooler = (message: string) => Object.assign(said('08P01', 'FATAL'), { message });
    const failed = (message: string) => mapError(new WriteFailed(pooler(message), 'transaction'), 'Postgres', USE);
    expect(mapError(pooler('server conn crashed?'), 'Postgres', USE)).toMatchObject(UNAVAILABLE);
    expect(mapError(said('08P01'), 'Postgres', USE)).toMatchObject({ code: 'internal' });
    expect(failed('server login has been failing, try again later')).toMatchObject(UNAVAILABLE);
    expect(failed('query_wait_timeout')).toMatchObject(UNAVAILABLE);
    expect(failed('server conn crashed?')).toMatchObject(UNKNOWN);
  });
});
