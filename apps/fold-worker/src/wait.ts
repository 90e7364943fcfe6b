import type { FoldWorker } from '@tidemark/libs-fold';
import { Fault } from '@tidemark/libs-kernel';
import { type Answer, once, waitMs } from '@tidemark/libs-service-kit';
import { parseInt64 } from '@tidemark/libs-wire';

/** undefined: the stream is folded so far, or nobody asked for it; otherwise the 504 that tells the mark. */
export type MinSeqWait = (stream: string, query: Record<string, unknown>) => Promise<Answer | undefined>;

/** `min_seq` waits until the stream is folded through that seq, at most `wait` seconds, and not into a shutdown (FLD-8). */
export function minSeqWait(worker: FoldWorker, stopping: AbortSignal): MinSeqWait {
  return async (stream, query) => {
    const text = once(query, 'min_seq');
    if (text === undefined) return undefined;
    const minSeq = parseInt64(text);
    if (minSeq === null || minSeq < 0n) throw new Fault('malformed', 'min_seq: must be a seq, 0 or higher');
    const { reached, mark } = await worker.waitFor(stream, minSeq, waitMs(query), stopping);
    if (reached) return undefined;
    const foldedThrough = mark?.watermark.foldedThrough ?? 0n;
    return {
      status: 504,
      body: `{"error":"not folded through ${minSeq} in time","folded_through":${foldedThrough}}`,
      headers: { 'tidemark-outcome': 'not-done' },
    };
  };
}
