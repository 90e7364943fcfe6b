import type { SendOptions } from '@tidemark/libs-driver-dynamodb';
import {
  type Clock,
  backoffMs,
  type BackoffShape,
  type Fault,
  type Random,
  type Sleeper,
  unreachable,
} from '@tidemark/libs-kernel';
import type { AppendOutcome } from '@tidemark/libs-op-store-contract';
import { claimSeq, type Op } from '@tidemark/libs-wire';
import { contended, endOfAppend, noSeqLeft, refusedRound } from './append-fault.ts';
import { planRound, type Position, type Round, type WaitingOp } from './append-round.ts';
import { findClaims, type Finding, type Sought, untilShown } from './find-stored.ts';
import { claimItemBytes, opItemBytes } from './item-size.ts';
import type { DynamoLog, DynamoMetrics } from './metrics.ts';
import type { OpsTable } from './ops-table.ts';
import type { FailedClaim } from './settle-round.ts';
import type { StreamEnd } from './stream-end.ts';
import type { RareWarning } from './rare-warning.ts';
import { type RoundAnswer, transact } from './transact.ts';
import { Unwanted, whileWanted } from './wanted.ts';

export interface AppendParts {
  readonly table: OpsTable;
  readonly clock: Clock;
  readonly sleeper: Sleeper;
  readonly random: Random;
  readonly log: DynamoLog;
  readonly metrics: DynamoMetrics;
  readonly throttles: RareWarning;
  readonly maxOpsPerRound: number;
  readonly contentionRounds: number;
}

interface Pending extends WaitingOp {
  isClaimed: boolean;
  /** It was in a round of which nobody knows whether it is stored. */
  mayBeStored: boolean;
}

/** After one lost round: what is known of the counter now is new, and most likely still so. */
const LOST_ONCE: BackoffShape = { baseMs: 5, ceilingMs: 5 };
/** After more: long enough to spread, and the same for all, so that who waited longest is no worse off. */
const CONTENDED: BackoffShape = { baseMs: 80, ceilingMs: 80 };
const THROTTLED: BackoffShape = { baseMs: 50, ceilingMs: 1000 };

/**
 * A writer that was beaten so often sends one op alone, until it wins: a lost round is billed like a stored one, and who stored anything
 * knows the counter first, so that the next round is a full one.
 */
const BEATEN_MAX = 2;

/** Rounds that may bring nothing, of any kind: no table in good order comes near it. */
const FRUITLESS_FACTOR = 10;

/** Claims read before anything else of theirs is known. */
const LOOK_AHEAD_OPS = 100;

/**
 * One append: rounds of as many ops as a transaction takes, one after another, until each op is answered.
 *
 * A stream that this process wrote before costs no read: a round begins where the last one ended. Where another writer was there too, the
 * round is cancelled, and what cancelled it says from where to go on.
 *
 * Ops that are stored already are found by the claims that cancel a round, whose content comes with the cancellation. When that was every
 * op of a round, the push is most likely a repeat, and the claims of the ops behind it are read before another round is tried: a cancelled
 * round of 49 ops costs about 200 write units, reading 49 claims 49 read units of a fifth of the price. A caller cuts a push into many
 * appends, so the stream's end remembers it: the append after a repeat reads the claim of its first op before it sends anything, and, when
 * that is stored, the others. A repeat of n stored ops so costs one cancelled round, n - 49 such reads, and the Queries that show the ops,
 * however it is cut; what follows it and is new costs one read more, once.
 *
 * The caller sees to it that one append of a stream runs at a time in this process.
 */
export class Append {
  readonly #parts: AppendParts;
  readonly #stream: string;
  readonly #end: StreamEnd;
  readonly #unwanted: AbortSignal | undefined;
  /** In the order given, each op id once. */
  #waiting: Pending[] = [];
  readonly #told = new Map<string, AppendOutcome>();
  /** In a row; and of those, the ones that another writer won. */
  #lost = 0;
  #beaten = 0;
  #fruitless = 0;
  /** The claim of an op was seen, and the op not yet. */
  #isHalfSeen = false;

  constructor(parts: AppendParts, stream: string, end: StreamEnd, unwanted?: AbortSignal) {
    this.#parts = parts;
    this.#stream = stream;
    this.#end = end;
    this.#unwanted = unwanted;
  }

  /** One outcome per op, in order. A Fault says what is known of the ops that are not answered yet. */
  async run(ops: readonly Op[]): Promise<AppendOutcome[]> {
    this.#waiting = pendingOf(this.#stream, ops);
    try {
      if (this.#end.isRepeated) await this.#lookAhead(1);
      while (this.#waiting.length > 0) await this.#round();
    } catch (thrown) {
      const mayBeStored = this.#isHalfSeen || this.#waiting.some((op) => op.mayBeStored);
      throw endOfAppend(thrown, { mayBeStored, isPartly: this.#told.size > 0 });
    }
    return ops.map(({ opId }) => {
      const outcome = this.#told.get(opId) as AppendOutcome;
      // A second one of the same id meets the op stored.
      this.#told.set(opId, { kind: 'existing', seq: outcome.seq });
      return outcome;
    });
  }

  async #round(): Promise<void> {
    const { clock } = this.#parts;
    await this.#sleep(this.#end.courtesy.pauseMs(clock.monotonic()));
    const opsMax = this.#beaten < BEATEN_MAX ? this.#parts.maxOpsPerRound : 1;
    const round = planRound(this.#waiting, await this.#position(), opsMax);
    if (round.ops.length === 0) throw noSeqLeft(this.#stream, round.base);
    const sentAtMs = clock.monotonic();
    const answer = await this.#send(round);
    if (answer.kind === 'stored') this.#end.courtesy.stored(sentAtMs, clock.monotonic());
    if (!answer.isCertain) for (const op of round.ops) op.mayBeStored = true;
    await this.#settle(round, answer);
  }

  /** From where the next round is planned; two Queries, at once, for a stream that this process never wrote. */
  async #position(): Promise<Position> {
    const end = this.#end;
    const topOf = (options: SendOptions): Promise<bigint> => this.#parts.table.top(this.#stream, options);
    const counterOf = async (options: SendOptions): Promise<bigint> =>
      end.counter ?? (await this.#parts.table.counter(this.#stream, options)).next;
    const [counter, first] = await this.#wanted((options) =>
      Promise.all([counterOf(options), end.isFloored ? null : topOf(options)]),
    );
    return end.plan(counter, end.needsTop(counter) ? (first ?? (await this.#wanted(topOf))) : null);
  }

  async #send(round: Round<Pending>): Promise<RoundAnswer> {
    const { table, random, metrics } = this.#parts;
    if (this.#unwanted?.aborted === true) throw new Unwanted();
    try {
      return await this.#wanted((options) => transact(table, this.#stream, round, random, options));
    } catch (thrown) {
      // It runs on, and nobody hears what becomes of it.
      if (thrown instanceof Unwanted) {
        metrics.round('unanswered', round.ops.length);
        for (const op of round.ops) op.mayBeStored = true;
        this.#end.forget();
      }
      throw thrown;
    }
  }

  async #settle(round: Round<Pending>, answer: RoundAnswer): Promise<void> {
    const end = this.#end;
    this.#parts.metrics.round(answer.kind, round.ops.length);
    switch (answer.kind) {
      case 'stored':
        return this.#settleStored(round);
      case 'claimed':
        if (answer.counter !== null) end.moved(answer.counter);
        return this.#settleClaimed(round, answer.claims);
      case 'lost':
        end.moved(answer.counter);
        this.#beaten++;
        return this.#lose();
      case 'taken':
        end.taken(round.base);
        return this.#goOn();
      case 'gap':
        end.gap(round.base);
        return this.#goOn();
      case 'conflict':
        end.forget();
        this.#beaten++;
        return this.#lose();
      case 'unanswered':
        end.forget();
        return this.#lose();
      case 'throttled':
        this.#parts.throttles.happened(this.#stream);
        end.forget();
        return this.#lose(THROTTLED);
      case 'refused':
        throw refusedRound(this.#stream, answer.reasons);
      default:
        return unreachable(answer);
    }
  }

  #settleStored(round: Round<Pending>): void {
    round.ops.forEach((one, i) => {
      const seq = round.base + BigInt(i) + 1n;
      if (one.mayBeStored && !one.isClaimed)
        this.#warn({ op: one.op.opId, seq }, 'an op without a claim may be stored twice');
      this.#tell(one, { kind: 'stored', seq });
    });
    this.#end.stored(round);
    this.#answered();
  }

  async #settleClaimed({ ops }: Round<Pending>, claims: readonly FailedClaim[]): Promise<void> {
    const { stored, found } = await this.#find(claims.map(({ at, item }) => ({ waiting: ops[at] as Pending, item })));
    if (found === 0) this.#goOn();
    if (stored === ops.length) await this.#lookAhead(LOOK_AHEAD_OPS);
  }

  /** Finds the first ops that are stored already, so many of them at once, then more, until one is not. */
  async #lookAhead(opsMax: number): Promise<void> {
    for (let ahead = this.#ahead(opsMax); ahead.length > 0; ahead = this.#ahead(LOOK_AHEAD_OPS)) {
      if ((await this.#find(ahead)).stored < ahead.length) return;
    }
  }

  #ahead(opsMax: number): { waiting: Pending }[] {
    return this.#waiting
      .slice(0, opsMax)
      .filter(({ isClaimed }) => isClaimed)
      .map((waiting) => ({ waiting }));
  }

  /** Answers those that are stored; an op whose claim is another's, or dead, goes on without. `found`: how many of all these. */
  async #find(
    sought: readonly (Sought & { readonly waiting: Pending })[],
  ): Promise<{ readonly stored: number; readonly found: number }> {
    const findings = await this.#wanted((options) => findClaims(this.#parts, this.#stream, sought, options));
    this.#isHalfSeen = findings.some(({ kind }) => kind === 'stored');
    await this.#wanted((options) => untilShown(this.#parts, this.#stream, sought, findings, options));
    this.#isHalfSeen = false;
    let stored = 0;
    let found = 0;
    findings.forEach((finding: Finding, i) => {
      const { waiting } = sought[i] as { waiting: Pending };
      if (finding.kind === 'free') return;
      found++;
      if (finding.kind !== 'stored') return this.#goesUnclaimed(waiting, finding);
      stored++;
      this.#tell(waiting, { kind: 'existing', seq: finding.seq });
    });
    if (found > 0) this.#answered();
    return { stored, found };
  }

  #goesUnclaimed(waiting: Pending, finding: Finding & { readonly kind: 'foreign' | 'dead' }): void {
    waiting.isClaimed = false;
    this.#parts.metrics.collision();
    const fields = { op: waiting.op.opId, owner: finding.opId, claim: waiting.claimSeq };
    if (finding.kind === 'foreign')
      return this.#warn(fields, 'the claim of an op belongs to another op id: stored without');
    this.#warn({ ...fields, seq: finding.seq }, 'the claim of an op names the place of another op: stored without');
  }

  async #lose(shape?: BackoffShape): Promise<void> {
    this.#lost++;
    const waits = shape ?? (this.#lost === 1 ? LOST_ONCE : CONTENDED);
    const { contentionRounds, clock, random } = this.#parts;
    this.#end.courtesy.lost(clock.monotonic());
    if (this.#lost > contentionRounds) throw this.#contended(`lost ${this.#lost} rounds in a row`, contentionRounds);
    await this.#sleep(backoffMs(this.#lost - 1, waits, random));
  }

  async #sleep(ms: number): Promise<void> {
    if (ms > 0) await this.#wanted(() => this.#parts.sleeper.sleep(ms, this.#unwanted));
  }

  /** The next round knows more than the last. */
  #goOn(): void {
    this.#lost = this.#beaten = 0;
    const roundsMax = this.#parts.contentionRounds * FRUITLESS_FACTOR;
    if (++this.#fruitless > roundsMax) throw this.#contended(`stored nothing in ${this.#fruitless} rounds`, roundsMax);
  }

  #answered(): void {
    this.#lost = this.#beaten = this.#fruitless = 0;
    this.#waiting = this.#waiting.filter(({ op }) => !this.#told.has(op.opId));
  }

  #tell({ op }: Pending, outcome: AppendOutcome): void {
    this.#told.set(op.opId, outcome);
    this.#end.isRepeated = outcome.kind === 'existing';
  }

  #contended(what: string, bound: number): Fault {
    this.#warn({ bound, waiting: this.#waiting.length }, `an append ${what}; RELAY_CONTENTION_ROUNDS bounds that`);
    return contended(this.#stream, what);
  }

  #warn(fields: Readonly<Record<string, unknown>>, message: string): void {
    this.#parts.log.warn({ stream: this.#stream, ...fields }, message);
  }

  #wanted<T>(calls: (options: SendOptions) => Promise<T>): Promise<T> {
    return whileWanted(this.#unwanted, calls);
  }
}

function pendingOf(stream: string, ops: readonly Op[]): Pending[] {
  const distinct = new Map<string, Pending>();
  for (const op of ops) {
    if (distinct.has(op.opId)) continue;
    const bytes = opItemBytes(stream, op) + claimItemBytes(stream, op);
    distinct.set(op.opId, { op, bytes, claimSeq: claimSeq(op.opId), isClaimed: true, mayBeStored: false });
  }
  return [...distinct.values()];
}
