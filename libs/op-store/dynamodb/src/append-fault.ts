import { asFault, Fault, type Outcome } from '@tidemark/libs-kernel';
import { Unwanted } from './wanted.ts';

const RETRY_AFTER_MS = 1000;

export function noSeqLeft(stream: string, base: bigint): Fault {
  const what = `its counter or newest op stands at ${base}, and no seq is left`;
  return new Fault('corrupt', `stream ${JSON.stringify(stream)}: ${what}`);
}

export function refusedRound(stream: string, reasons: string): Fault {
  const message = `stream ${JSON.stringify(stream)}: DynamoDB refused an append (${reasons})`;
  return new Fault('internal', message, { outcome: 'not-done' });
}

export function contended(stream: string, what: string): Fault {
  const message = `stream ${JSON.stringify(stream)}: the append ${what}; too many write this stream`;
  return new Fault('unavailable', message, { retryAfterMs: RETRY_AFTER_MS });
}

export interface Known {
  /** Of an op that is not answered, nobody knows whether it is stored. */
  readonly mayBeStored: boolean;
  /** Some ops are answered. */
  readonly isPartly: boolean;
}

/** The fault that ended an append, with what is known of its ops. */
export function endOfAppend(thrown: unknown, { mayBeStored, isPartly }: Known): Fault {
  const fault =
    thrown instanceof Unwanted ? new Fault('deadline', 'nobody waits for this append any longer') : asFault(thrown);
  const { code, message, retryAfterMs } = fault;
  const certain: Outcome = isPartly ? 'partly' : 'not-done';
  const outcome = mayBeStored || fault.outcome === 'unknown' ? 'unknown' : certain;
  return new Fault(code, message, { outcome, cause: fault, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
}
