import { Fault } from '@tidemark/libs-kernel';
import { faultOf, outcomeOf } from './map-error.ts';
import { WriteFailure } from './transact.ts';

const sqlite = (code: string) => Object.assign(new Error(`it says ${code}`), { code });

const CASES = [
  ['SQLITE_FULL', true, 'full', 'disk_full', 'not-done'],
  ['SQLITE_FULL', false, 'unknown', 'disk_full', 'unknown'],
  ['SQLITE_BUSY', true, 'unavailable', 'unavailable', 'not-done'],
  ['SQLITE_BUSY_RECOVERY', true, 'unavailable', 'unavailable', 'not-done'],
  ['SQLITE_IOERR_WRITE', true, 'unavailable', 'unavailable', 'not-done'],
  ['SQLITE_IOERR_FSYNC', false, 'unknown', 'unavailable', 'unknown'],
  ['SQLITE_CORRUPT_VTAB', true, 'unknown', 'corrupt', 'not-done'],
  ['SQLITE_NOTADB', true, 'unknown', 'corrupt', 'not-done'],
  ['SQLITE_READONLY_DIRECTORY', true, 'unknown', 'misconfigured', 'not-done'],
  ['SQLITE_CANTOPEN', true, 'unknown', 'misconfigured', 'not-done'],
  ['SQLITE_CONSTRAINT_UNIQUE', true, 'unknown', 'internal', 'not-done'],
] as const;

test.each(CASES)('OPS-6: %s, nothing stored: %s, is %s to a publish and %s (%s) elsewhere', (...row) => {
  const [code, nothingStored, kind, faultCode, outcome] = row;
  const failure = new WriteFailure(sqlite(code), { nothingStored });
  expect(outcomeOf(failure).kind).toBe(kind);
  expect(faultOf(failure)).toMatchObject({ code: faultCode, outcome });
});

test('OPS-6: a fault stays itself', () => {
  const fault = new Fault('unavailable', 'closed');
  expect(faultOf(fault)).toBe(fault);
  expect(faultOf(new WriteFailure(fault, { nothingStored: true }))).toBe(fault);
});
