import type { AppendOutcome } from '@tidemark/libs-op-store-contract';
import type { Fault } from '@tidemark/libs-kernel';
import type { Op } from '@tidemark/libs-wire';

/** A push on its way into the log. */
export interface Push {
  readonly stream: string;
  readonly ops: readonly Op[];
  readonly bytes: number;
  /** Of ops, from the first: how many went into rounds, and what those that ended came to. */
  taken: number;
  readonly outcomes: AppendOutcome[];
  /** Answered; a round of it may still run. */
  done: boolean;
  /** The round that carries ops of it now. */
  round: Round | null;
  readonly resolve: (outcomes: readonly AppendOutcome[]) => void;
  readonly reject: (fault: Fault) => void;
}

/** Ops of one push that one round carries. */
export interface Piece {
  readonly push: Push;
  readonly ops: readonly Op[];
}

/** One append. */
export interface Round {
  readonly pieces: readonly Piece[];
  /** Aborts when every push of it was answered before it ended. */
  readonly unwanted: AbortController;
}

export interface RoundBounds {
  readonly pushesMax: number;
  /** Ops of one transaction of the store: a round is filled to the last op, whatever push it cuts. null: pushes are not cut. */
  readonly transactionOps: number | null;
}

/** A round that cuts no push ends at this many ops or bytes; one push always fits. */
const ROUND_OPS_MAX = 4000;
const ROUND_BYTES_MAX = 16 * 1024 * 1024;

/** Takes the next round's ops from the head of what waits, in order. A push whose last op is taken waits no more. */
export function takeRound(waiting: Push[], { pushesMax, transactionOps }: RoundBounds): Round {
  const pieces: Piece[] = [];
  let room = transactionOps ?? ROUND_OPS_MAX;
  let bytes = 0;
  for (const push of waiting) {
    const left = push.ops.length - push.taken;
    bytes += push.bytes;
    const cut = transactionOps === null ? left : Math.min(left, room);
    if (pieces.length > 0 && (pieces.length >= pushesMax || cut > room || room === 0 || bytes > ROUND_BYTES_MAX)) break;
    pieces.push({ push, ops: cut === push.ops.length ? push.ops : push.ops.slice(push.taken, push.taken + cut) });
    push.taken += cut;
    room -= cut;
  }
  const round = { pieces, unwanted: new AbortController() };
  for (const { push } of pieces) push.round = round;
  waiting.splice(0, pieces.filter(({ push }) => push.taken === push.ops.length).length);
  return round;
}
