import { anOp } from '@tidemark/libs-op-store-contract/testing';
import { claimSeq } from '@tidemark/libs-wire';
import type { WaitingOp } from './append-round.ts';

/** An op that waits, of a few bytes. */
export function aWaitingOp(opId: string, waiting: Partial<WaitingOp> = {}): WaitingOp {
  return { op: anOp({ opId }), claimSeq: claimSeq(opId), bytes: 500, isClaimed: true, ...waiting };
}
