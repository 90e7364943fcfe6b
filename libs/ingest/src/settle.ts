import type { PublishOutcome } from '@tidemark/libs-broker-contract';
import type { Fault, Outcome } from '@tidemark/libs-kernel';

/** What became of one publish; `not_sent`: it never began. */
export type Sent = PublishOutcome['kind'] | 'not_sent';

/** What is known of one record of a window when its publishes have ended. */
export type Fate =
  /** Refused in prepare; it holds nothing. */
  | { readonly kind: 'rejected' }
  /** Its id was committed before. */
  | { readonly kind: 'duplicate' }
  /** Another request holds its id; nothing of the window was sent. */
  | { readonly kind: 'in_flight' }
  /** The same id as a record of an earlier window of the request, which the broker refused. */
  | { readonly kind: 'refused_before' }
  /** The same id as the earlier record at position `of` of this window. */
  | { readonly kind: 'repeat'; readonly of: number }
  | { readonly kind: 'unkeyed'; readonly sent: Sent }
  | { readonly kind: 'claimed'; readonly sent: Sent };

/** A record's own result. `repeat_of_refused`: it was not sent because it shares its id with a record that the broker refused. */
export type Verdict = 'rejected' | 'duplicate' | 'stored' | 'too_large' | 'repeat_of_refused';

/** Why the request ends here. */
export interface Failure {
  readonly status: number;
  readonly error: string;
  readonly retryAfterMs: number | null;
  readonly outcome: Outcome;
}

/**
 * Where every claim of a window goes, by position; each claimed record is in exactly one of the three lists, in record order.
 * Without a failure every record has its verdict, in record order; with one the request is answered by the failure alone.
 */
export interface Settlement {
  readonly commit: readonly number[];
  readonly release: readonly number[];
  /** The broker may have stored them: the claim lapses by itself, and a retry under the same key is dropped by the broker. */
  readonly lapse: readonly number[];
  readonly verdicts: readonly Verdict[];
  readonly failure: Failure | null;
}

export interface SettleContext {
  readonly leaseMs: number;
  /** True when records of earlier windows are in the queue. */
  readonly earlierQueued: boolean;
}

export const BUSY_RETRY_MS = 5_000;
export const FULL_RETRY_MS = 30_000;

/**
 * The table of outcomes (ING-2), record by record:
 *
 * | the broker            | claim   | the request                                    |
 * |-----------------------|---------|------------------------------------------------|
 * | stored it, or has it  | commit  | goes on                                        |
 * | refused it: too large | release | goes on; that record fails                     |
 * | refused it: full      | release | 503, Retry-After 30                            |
 * | gave no answer        | lapse   | 503, Retry-After lease with a claim, 5 without |
 * | failed in another way | lapse   | 500                                            |
 * | was not asked         | release | ends for the reason that stopped the sending   |
 *
 * Sending that no record stopped was stopped by the lease: 503, Retry-After 5. A key in flight elsewhere sends nothing: 503, Retry-After
 * lease. When several records fail, the lowest one gives the status and the longest wait is asked (ING-3).
 */
export function settle(fates: readonly Fate[], context: SettleContext): Settlement {
  const claimsThat = (goes: ClaimEnd) =>
    positionsOf(fates, (fate) => fate.kind === 'claimed' && CLAIM_END[fate.sent] === goes);
  const failure = failureOf(fates, context);
  return {
    commit: claimsThat('commit'),
    release: claimsThat('release'),
    lapse: claimsThat('lapse'),
    verdicts: failure === null ? fates.map((fate) => verdictOf(fate, fates)) : [],
    failure,
  };
}

/**
 * A Reserve that failed: nothing of its window is held or published. What a later try can cure is 503, anything else 500. A full disk
 * is cured by an operator, and counts as unavailable (OPS-6).
 */
export function settleReserveFault(fault: Fault, earlierQueued: boolean): Failure {
  const outcome: Outcome = earlierQueued ? 'partly' : 'not-done';
  if (fault.code === 'unavailable' || fault.code === 'disk_full') {
    return { status: 503, error: 'dedupe store unavailable', retryAfterMs: BUSY_RETRY_MS, outcome };
  }
  return { status: 500, error: 'dedupe failed', retryAfterMs: null, outcome };
}

type ClaimEnd = 'commit' | 'release' | 'lapse';

const CLAIM_END: Readonly<Record<Sent, ClaimEnd>> = {
  stored: 'commit',
  duplicate: 'commit',
  full: 'release',
  too_large: 'release',
  not_sent: 'release',
  unavailable: 'lapse',
  unknown: 'lapse',
};

const positionsOf = (fates: readonly Fate[], holds: (fate: Fate) => boolean): number[] =>
  fates.flatMap((fate, position) => (holds(fate) ? [position] : []));

/** One record's reason to end the request, before anything else is weighed. */
type Reason = Omit<Failure, 'outcome'>;

function failureOf(fates: readonly Fate[], context: SettleContext): Failure | null {
  const reasons = fates.flatMap((fate) => reasonOf(fate, context.leaseMs) ?? []);
  const [lowest] = reasons;
  if (lowest !== undefined) {
    return { ...lowest, retryAfterMs: longestWait(reasons), outcome: outcomeOf(fates, context.earlierQueued) };
  }
  if (!fates.some((fate) => 'sent' in fate && fate.sent === 'not_sent')) return null;
  return { ...unavailable(BUSY_RETRY_MS), outcome: outcomeOf(fates, context.earlierQueued) };
}

const unavailable = (retryAfterMs: number): Reason => ({ status: 503, error: 'service unavailable', retryAfterMs });

function reasonOf(fate: Fate, leaseMs: number): Reason | null {
  if (fate.kind === 'in_flight') {
    return { status: 503, error: 'a request with the same dedupe id is in flight', retryAfterMs: leaseMs };
  }
  if (fate.kind !== 'claimed' && fate.kind !== 'unkeyed') return null;
  if (fate.sent === 'full') return unavailable(FULL_RETRY_MS);
  if (fate.sent === 'unknown') return { status: 500, error: 'publish failed', retryAfterMs: null };
  // A retry before the lease ends would only meet the record's own claim.
  if (fate.sent === 'unavailable') return unavailable(fate.kind === 'claimed' ? leaseMs : BUSY_RETRY_MS);
  return null;
}

function longestWait(reasons: readonly Reason[]): number | null {
  const waits = reasons.flatMap((reason) => reason.retryAfterMs ?? []);
  return waits.length === 0 ? null : Math.max(...waits);
}

function outcomeOf(fates: readonly Fate[], earlierQueued: boolean): Outcome {
  const ends = fates.map((fate) => ('sent' in fate ? CLAIM_END[fate.sent] : fate.kind));
  if (ends.includes('lapse')) return 'unknown';
  return earlierQueued || ends.includes('commit') || ends.includes('duplicate') ? 'partly' : 'not-done';
}

/** Of a window without a failure: every record was stored, certainly refused, or needed no publish. */
function verdictOf(fate: Fate, fates: readonly Fate[]): Verdict {
  if (fate.kind === 'rejected' || fate.kind === 'duplicate') return fate.kind;
  if (fate.kind === 'refused_before') return 'repeat_of_refused';
  if (fate.kind === 'repeat') {
    const first = fates[fate.of];
    const refused = first !== undefined && REFUSED.has(verdictOf(first, fates));
    return refused ? 'repeat_of_refused' : 'duplicate';
  }
  return 'sent' in fate && CLAIM_END[fate.sent] === 'commit' ? 'stored' : 'too_large';
}

const REFUSED: ReadonlySet<Verdict> = new Set(['too_large', 'repeat_of_refused']);
