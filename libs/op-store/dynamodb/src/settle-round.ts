import type { CancellationReason } from '@aws-sdk/client-dynamodb';
import { layoutOf, type Round } from './append-round.ts';
import { type Item, toCounter } from './op-item.ts';

/** A claim that was there before, with what it holds where the reason brought it. */
export interface FailedClaim {
  /** Place of its op in the round. */
  readonly at: number;
  readonly item: Item | undefined;
}

/** What a cancelled round says. */
export type Settled =
  /** Some of the ops have a claim already. `counter`: what it is, where its condition failed too. */
  | { readonly kind: 'claimed'; readonly claims: readonly FailedClaim[]; readonly counter: bigint | null }
  /** Another writer moved the counter, and this is what it is now. */
  | { readonly kind: 'lost'; readonly counter: bigint }
  /** One of the seqs is occupied, by a writer that left the counter behind. */
  | { readonly kind: 'taken' }
  /** The check failed while the counter stood as expected: the op before the round is not as the check demands, and stays so. */
  | { readonly kind: 'gap' }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'throttled' }
  | { readonly kind: 'refused'; readonly reasons: string };

const NONE = 'None';
const FAILED = 'ConditionalCheckFailed';
const CONFLICT = 'TransactionConflict';
const THROTTLED: ReadonlySet<string> = new Set(['ThrottlingError', 'ProvisionedThroughputExceeded']);

/**
 * What the reasons of a cancelled round mean. The first that fits, from above, decides:
 *
 * | reasons                                    | because                                                                          |
 * |--------------------------------------------|----------------------------------------------------------------------------------|
 * | one of another kind, or not one per item    | nothing can be concluded                                                         |
 * | a claim failed                             | an op that is stored is answered its own seq, whoever won the counter (RLY-5)    |
 * | the counter failed                         | the round was planned from what is no longer so; the reason brings what is       |
 * | an op failed                               | its seq is occupied, which no writer of ours does without moving the counter     |
 * | the check failed, the counter held         | only then is it proved, by one transaction, what is at the seq before            |
 * | a conflict or a throttle                   | may pass                                                                         |
 *
 * A check that failed beside a counter that could not be judged proves nothing.
 */
export function settleRound(round: Round, reasons: readonly CancellationReason[]): Settled {
  const layout = layoutOf(round);
  const codes = reasons.map(({ Code }) => Code ?? NONE);
  if (codes.length !== layout.length || !codes.every(isKnown)) return refused(reasons);
  const failed = (at: number | null): at is number => at !== null && codes[at] === FAILED;

  const claims = layout.claims.flatMap((place, at) => (failed(place) ? [{ at, item: reasons[place]?.Item }] : []));
  const counter = failed(layout.counter) ? toCounter(reasons[layout.counter]?.Item).next : null;
  if (claims.length > 0) return { kind: 'claimed', claims, counter };
  if (counter !== null) return { kind: 'lost', counter };
  if (codes.includes(FAILED, layout.ops)) return { kind: 'taken' };
  if (failed(layout.check) && codes[layout.counter] === NONE) return { kind: 'gap' };
  if (codes.some((code) => THROTTLED.has(code))) return { kind: 'throttled' };
  return codes.includes(CONFLICT) ? { kind: 'conflict' } : refused(reasons);
}

function isKnown(code: string): boolean {
  return code === NONE || code === FAILED || code === CONFLICT || THROTTLED.has(code);
}

function refused(reasons: readonly CancellationReason[]): Settled {
  const told = reasons.map(({ Code = NONE, Message }) => (Message === undefined ? Code : `${Code}: ${Message}`));
  return { kind: 'refused', reasons: told.filter((one) => one !== NONE).join('; ') || 'no reason was given' };
}
