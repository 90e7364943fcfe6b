/**
 * What went wrong, as a closed set. Expected outcomes (duplicate, queue full, lost round, hole) are values, not faults.
 *
 * | code            | meaning                                                              |
 * |-----------------|----------------------------------------------------------------------|
 * | invalid         | the input is well-formed but wrong in shape, type or value            |
 * | malformed       | the input cannot be read at all (JSON syntax, encoding, framing)      |
 * | unsupported     | a content type or feature that is not offered                         |
 * | too_large       | a bound on size was passed                                            |
 * | not_found       | the named thing does not exist                                        |
 * | conflict        | the state forbids it (a cursor above the head, a taken lock)          |
 * | denied          | not allowed                                                           |
 * | unavailable     | a backend cannot be reached, is busy or throttles; retry later         |
 * | overloaded      | one of our own bounds is reached; retry later                         |
 * | deadline        | time ran out                                                          |
 * | disk_full       | no space for the write                                                |
 * | corrupt         | stored data cannot be read as what it must be                         |
 * | misconfigured   | a setting, table or right is wrong; retrying does not help            |
 * | unknown_outcome | the write may or may not have happened                                |
 * | internal        | a defect                                                              |
 */
export type FaultCode =
  | 'invalid'
  | 'malformed'
  | 'unsupported'
  | 'too_large'
  | 'not_found'
  | 'conflict'
  | 'denied'
  | 'unavailable'
  | 'overloaded'
  | 'deadline'
  | 'disk_full'
  | 'corrupt'
  | 'misconfigured'
  | 'unknown_outcome'
  | 'internal';

/** What is known about the work that was asked for. Sent as the header `Tidemark-Outcome` (OPS-6). */
export type Outcome = 'not-done' | 'partly' | 'done' | 'unknown';

export interface FaultDetail {
  /** Default: `unknown` for unknown_outcome and internal, else `not-done`. */
  readonly outcome?: Outcome;
  /** When a retry may succeed, in milliseconds from now. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

export class Fault extends Error {
  override readonly name = 'Fault';
  readonly code: FaultCode;
  readonly outcome: Outcome;
  readonly retryAfterMs: number | undefined;

  constructor(code: FaultCode, message: string, detail: FaultDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.code = code;
    this.outcome = detail.outcome ?? (code === 'unknown_outcome' || code === 'internal' ? 'unknown' : 'not-done');
    this.retryAfterMs = detail.retryAfterMs;
  }
}

/** The fault itself, or `internal` around anything else that was thrown. */
export function asFault(thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown;
  return new Fault('internal', thrown instanceof Error ? thrown.message : String(thrown), { cause: thrown });
}
