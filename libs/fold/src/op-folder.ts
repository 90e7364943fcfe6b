import { type Clock, Fault, unreachable } from '@tidemark/libs-kernel';
import type { SeenOp } from '@tidemark/libs-op-store-contract';
import type { ViewChange, Views } from '@tidemark/libs-views-contract';
import { opTraceparent } from '@tidemark/libs-wire';
import type { Reducers } from './reduce.ts';
import type { FoldLog, OpEnd } from './report.ts';

export interface OpFolderOptions {
  readonly views: Views;
  readonly reducers: Reducers;
  readonly clock: Clock;
  readonly log: FoldLog;
}

export type OpCounts = Readonly<Record<OpEnd, number>>;

/** An op that cannot be folded, and why. */
interface Poison {
  readonly seen: SeenOp;
  readonly reason: string;
}

/** An op with what it changes. */
interface Reduction {
  readonly seen: SeenOp;
  readonly changes: readonly ViewChange[];
}

/** A reason may name a document, whose name may be long. */
const REASON_UNITS_MAX = 500;

/**
 * Gives each op its effect: its changes are in the rows, or no reducer declares it, or it is parked with the reason (FLD-6). All of it is
 * stored when this resolves, so that the mark may pass the ops. Repeating it changes nothing.
 */
export class OpFolder {
  readonly #options: OpFolderOptions;

  constructor(options: OpFolderOptions) {
    this.#options = options;
  }

  /** `attempts`: how often those that are parked now were tried, this time included. */
  async fold(stream: string, epoch: number, ops: readonly SeenOp[], attempts = 1): Promise<OpCounts> {
    const reductions: Reduction[] = [];
    const poison: Poison[] = [];
    for (const seen of ops) this.#reduce(seen, reductions, poison);
    const undeclared = ops.length - reductions.length - poison.length;
    poison.push(...(await this.#apply(stream, epoch, reductions)));
    for (const one of poison) await this.#park(stream, epoch, one, attempts);
    return { folded: ops.length - undeclared - poison.length, not_folded: undeclared, parked: poison.length };
  }

  #reduce(seen: SeenOp, reductions: Reduction[], poison: Poison[]): void {
    if (seen.op === null) return void poison.push({ seen, reason: seen.problem });
    const reduced = this.#options.reducers.reduce(seen);
    switch (reduced.kind) {
      case 'folded':
        return void reductions.push({ seen, changes: reduced.changes });
      case 'not_folded':
        return;
      case 'refused':
        return void poison.push({ seen, reason: reduced.reason });
      default:
        unreachable(reduced);
    }
  }

  /**
   * All at once; where the rows can never take one of the changes, by halves until it is alone. Of an op with several changes some may be
   * in the rows although it is parked.
   */
  async #apply(stream: string, epoch: number, reductions: readonly Reduction[]): Promise<Poison[]> {
    const changes = reductions.flatMap((one) => one.changes);
    if (changes.length === 0) return [];
    try {
      await this.#options.views.apply(stream, epoch, changes);
      return [];
    } catch (thrown) {
      if (!isNeverTaken(thrown)) throw thrown;
      const [first, ...others] = reductions;
      if (first && others.length === 0) return [{ seen: first.seen, reason: thrown.message }];
    }
    const half = reductions.length >>> 1;
    const lower = await this.#apply(stream, epoch, reductions.slice(0, half));
    return [...lower, ...(await this.#apply(stream, epoch, reductions.slice(half)))];
  }

  async #park(stream: string, epoch: number, { seen, reason }: Poison, attempts: number): Promise<void> {
    const { views, clock, log } = this.#options;
    const { seq, op } = seen;
    const told = reason.slice(0, REASON_UNITS_MAX);
    const opId = op?.opId ?? null;
    await views.park(stream, epoch, { seq, opId, reason: told, parkedAtMs: clock.now(), attempts });
    const traceparent = (op && opTraceparent(op)) ?? undefined;
    log.warn(
      { stream, epoch, seq: String(seq), opId, traceparent, reason: told },
      'parked: the op cannot be folded, its mark passes it',
    );
  }
}

function isNeverTaken(thrown: unknown): thrown is Fault {
  return thrown instanceof Fault && (thrown.code === 'too_large' || thrown.code === 'invalid');
}
