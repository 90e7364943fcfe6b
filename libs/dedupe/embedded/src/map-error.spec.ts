import { Fault } from '@tidemark/libs-kernel';
import { mapError } from './map-error.ts';

describe('mapError', () => {
  test.each([
    ['LEVEL_IO_ERROR', 'IO error: 3.log: No space left on device', 'disk_full'],
    ['LEVEL_IO_ERROR', 'IO error: 3.log: Disk quota exceeded', 'disk_full'],
    ['LEVEL_IO_ERROR', 'IO error: 3.log: File too large', 'disk_full'],
    ['ENOSPC', 'ENOSPC: no space left on device, mkdir', 'disk_full'],
    ['LEVEL_IO_ERROR', 'IO error: 3.log: Input/output error', 'unavailable'],
    ['EMFILE', 'EMFILE: too many open files', 'unavailable'],
    ['LEVEL_DATABASE_NOT_OPEN', 'Database is not open', 'unavailable'],
    ['LEVEL_LOCKED', 'IO error: lock LOCK: already held by process', 'misconfigured'],
    ['LEVEL_IO_ERROR', 'IO error: LOCK: Permission denied', 'misconfigured'],
    ['EROFS', 'EROFS: read-only file system, mkdir', 'misconfigured'],
    ['LEVEL_CORRUPTION', 'Corruption: bad block', 'corrupt'],
    ['ERR_INVALID_ARG_TYPE', 'The argument must be a string', 'internal'],
    ['', 'cannot read properties of undefined', 'internal'],
  ])('OPS-6: %s, %s is %s', (code, message, faultCode) => {
    const thrown = Object.assign(new Error(message), { code });
    expect(mapError(thrown, '/data')).toMatchObject({ code: faultCode, outcome: 'not-done', cause: thrown });
  });

  test('OPS-6: the innermost cause speaks, a write says unknown, a fault passes through', () => {
    const cause = Object.assign(new Error('IO error: No space left on device'), { code: 'LEVEL_IO_ERROR' });
    const outer = Object.assign(new Error('Database failed to open', { cause }), { code: 'LEVEL_DATABASE_NOT_OPEN' });
    expect(mapError(outer, '/data', 'unknown')).toMatchObject({
      code: 'disk_full',
      outcome: 'unknown',
      message: 'dedupe store /data: IO error: No space left on device',
    });
    const fault = new Fault('deadline', 'late');
    expect(mapError(fault, '/data')).toBe(fault);
  });
});
