import { type FoldWorker, type Waited, waitForOp } from '@tidemark/libs-fold';
import { type Clock, Fault } from '@tidemark/libs-kernel';
import type { OpStore } from '@tidemark/libs-op-store-contract';
import { type Answer, once, waitMs } from '@tidemark/libs-service-kit';
import { parseInt64 } from '@tidemark/libs-wire';

export interface ReadWaitParts {
  readonly worker: Pick<FoldWorker, 'waitFor'>;
  readonly opStore: Pick<OpStore, 'seqOf'>;
  readonly clock: Clock;
  readonly stopping: AbortSignal;
}

/** undefined: the stream is folded so far, or nobody asked for it; otherwise the 504 that tells the mark. */
export type ReadWait = (stream: string, query: Record<string, unknown>) => Promise<Answer | undefined>;

/**
 * `min_seq` waits until the stream is folded through that seq, `min_op` until the op of that id is folded: at most `wait` seconds, and not
 * into a shutdown (FLD-8).
 */
export function readWait(parts: ReadWaitParts): ReadWait {
  return async (stream, query) => {
    const [minSeq, minOp, ms] = [seqIn(query), opIn(query), waitMs(query)];
    if (minSeq !== undefined && minOp !== undefined)
      throw new Fault('malformed', 'min_op: stands alone, without min_seq');
    if (minSeq !== undefined)
      return late(await parts.worker.waitFor(stream, minSeq, ms, parts.stopping), `through ${minSeq} in time`);
    if (minOp === undefined) return undefined;
    const waitFor = parts.worker.waitFor.bind(parts.worker);
    const waited = await waitForOp({ ...parts, waitFor }, stream, minOp, ms, parts.stopping);
    return late(
      waited,
      waited.seq === null ? 'in time: the log does not hold the op yet' : `through ${waited.seq} in time`,
    );
  };
}

function late({ reached, mark }: Waited, what: string): Answer | undefined {
  if (reached) return undefined;
  const foldedThrough = mark?.watermark.foldedThrough ?? 0n;
  return {
    status: 504,
    body: `{"error":"not folded ${what}","folded_through":${foldedThrough}}`,
    headers: { 'tidemark-outcome': 'not-done' },
  };
}

function seqIn(query: Record<string, unknown>): bigint | undefined {
  const text = once(query, 'min_seq');
  if (text === undefined) return undefined;
  const minSeq = parseInt64(text);
  if (minSeq === null || minSeq < 0n) throw new Fault('malformed', 'min_seq: must be a seq, 0 or higher');
  return minSeq;
}

function opIn(query: Record<string, unknown>): string | undefined {
  const text = once(query, 'min_op');
  if (text === '') throw new Fault('malformed', 'min_op: must be the id of an op');
  return text;
}
