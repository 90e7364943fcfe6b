import type { Clock } from '@tidemark/libs-kernel';
import type { OpStore } from '@tidemark/libs-op-store-contract';
import type { Waited } from './mark-watch.ts';

export interface OpWaitParts {
  readonly opStore: Pick<OpStore, 'seqOf'>;
  readonly clock: Clock;
  /** As FoldWorker.waitFor. */
  readonly waitFor: (stream: string, seq: bigint, waitMs: number, signal?: AbortSignal) => Promise<Waited>;
}

export interface OpWaited extends Waited {
  /** Where the op is in its stream; null: the log does not hold it yet. */
  readonly seq: bigint | null;
}

/** A log that nothing is added to is asked for the op so often. */
const LOOK_MS = 500;

/**
 * Resolves when the op is folded, or after `waitMs`, or when `signal` aborts, as FoldWorker.waitFor does (FLD-8). An op that is still on
 * its way into the log is waited for too: the log is asked again whenever the stream's mark has moved, and now and then.
 */
export async function waitForOp(
  parts: OpWaitParts,
  stream: string,
  opId: string,
  waitMs: number,
  signal?: AbortSignal,
): Promise<OpWaited> {
  const { opStore, clock, waitFor } = parts;
  const endsAtMs = clock.monotonic() + waitMs;
  for (let beyond = 0n; ;) {
    const seq = await opStore.seqOf(stream, opId);
    const leftMs = Math.max(0, endsAtMs - clock.monotonic());
    if (seq !== null) return { seq, ...(await waitFor(stream, seq, leftMs, signal)) };
    const { mark } = await waitFor(stream, beyond, Math.min(leftMs, LOOK_MS), signal);
    if (leftMs <= 0 || signal?.aborted) return { seq, reached: false, mark };
    beyond = (mark?.watermark.foldedThrough ?? 0n) + 1n;
  }
}
