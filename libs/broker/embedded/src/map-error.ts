import { Fault, type FaultCode } from '@tidemark/libs-kernel';
import type { PublishOutcome } from '@tidemark/libs-broker-contract';
import { codeOf, messageOf } from './sqlite-code.ts';
import { WriteFailure } from './transact.ts';

/**
 * | what failed                                  | publish       | elsewhere                       |
 * |----------------------------------------------|---------------|---------------------------------|
 * | no space, rolled back                        | `full`        | `disk_full`, not done           |
 * | busy, or an I/O error before the commit      | `unavailable` | `unavailable`, not done         |
 * | the commit, or a rollback                    | `unknown`     | by its code, outcome unknown    |
 * | damage, rights, defects                      | `unknown`     | `corrupt`, `misconfigured`, ... |
 */
export function outcomeOf(thrown: unknown): PublishOutcome {
  const { code, outcome, message } = faultOf(thrown);
  if (outcome !== 'not-done') return { kind: 'unknown', detail: message };
  if (code === 'disk_full') return { kind: 'full', detail: message };
  return { kind: code === 'unavailable' ? 'unavailable' : 'unknown', detail: message };
}

export function faultOf(thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown;
  const cause = thrown instanceof WriteFailure ? thrown.cause : thrown;
  if (cause instanceof Fault) return cause;
  const done = thrown instanceof WriteFailure && !thrown.nothingStored ? 'unknown' : 'not-done';
  const code = codeOf(cause);
  return new Fault(faultCodeOf(code), `queue file: ${describe(code, messageOf(cause))}`, {
    outcome: done,
    cause: thrown,
  });
}

/** For the end of a promise: `.catch(throwFault)`. */
export function throwFault(thrown: unknown): never {
  throw faultOf(thrown);
}

function faultCodeOf(code: string): FaultCode {
  if (code === 'SQLITE_FULL') return 'disk_full';
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) return 'corrupt';
  if (/^SQLITE_(READONLY|CANTOPEN|PERM|AUTH)/.test(code)) return 'misconfigured';
  return /^SQLITE_(BUSY|LOCKED|IOERR|NOMEM|PROTOCOL)/.test(code) ? 'unavailable' : 'internal';
}

function describe(code: string, text: string): string {
  if (code === 'SQLITE_FULL') return 'the disk is full';
  return code === '' ? text : `${text} (${code})`;
}
