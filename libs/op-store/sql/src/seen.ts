import { Fault } from '@tidemark/libs-kernel';
import type { SeenOp, SequencedOp } from '@tidemark/libs-op-store-contract';

/** What `read` answers for the seq; an op that is `corrupt` is told with the reason. */
export function seen(seq: bigint, read: () => SequencedOp): SeenOp {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.code === 'corrupt') return { seq, op: null, problem: thrown.message };
    throw thrown;
  }
}
