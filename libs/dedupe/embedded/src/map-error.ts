import { isNativeError } from 'node:util/types';
import { Fault, type FaultCode, type Outcome } from '@tidemark/libs-kernel';

const NO_SPACE = /no space left|ENOSPC|quota exceeded|EDQUOT|file too large|EFBIG/i;
const NOT_ALLOWED = /permission denied|EACCES|EPERM|read-only file system|EROFS|not a directory|ENOTDIR/i;

/** What LevelDB and the file system throw, as a fault of one line that names the folder. */
export function mapError(thrown: unknown, folder: string, outcome: Outcome = 'not-done'): Fault {
  if (thrown instanceof Fault) return thrown;
  const { code, message } = innermost(thrown);
  const { faultCode, text } = describe(code, message);
  return new Fault(faultCode, `dedupe store ${folder}: ${text}`, { outcome, cause: thrown });
}

function describe(code: string, message: string): { faultCode: FaultCode; text: string } {
  if (code === 'LEVEL_LOCKED') {
    return { faultCode: 'misconfigured', text: 'open in another process; give each process a folder of its own' };
  }
  if (code === 'LEVEL_CORRUPTION') return { faultCode: 'corrupt', text: message };
  if (NO_SPACE.test(message)) return { faultCode: 'disk_full', text: message };
  if (NOT_ALLOWED.test(message)) return { faultCode: 'misconfigured', text: message };
  const passing = code === 'LEVEL_IO_ERROR' || /^E[A-Z0-9]+$/.test(code) || code.endsWith('_NOT_OPEN');
  return { faultCode: passing ? 'unavailable' : 'internal', text: message };
}

/** LevelDB's own error stands at the end of the causes: "Database failed to open" says nothing. */
function innermost(thrown: unknown): { code: string; message: string } {
  if (!isNativeError(thrown)) return { code: '', message: String(thrown) };
  if (isNativeError(thrown.cause)) return innermost(thrown.cause);
  const code = 'code' in thrown ? String(thrown.code) : '';
  return { code, message: thrown.message };
}
