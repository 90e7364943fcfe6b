import type { FoldWorker } from '@tidemark/libs-fold';
import { Fault } from '@tidemark/libs-kernel';
import { type Answer, once, waitMs } from '@tidemark/libs-service-kit';
import { parseInt64 } from '@tidemark/libs-wire';

/**
 * `min_seq` waits until the stream is folded through that seq, at most `wait` seconds (FLD-8). undefined: it is, or was not asked for;
 * otherwise the 504 that tells the mark.
 */
export async function waitForMinSeq(
  worker: FoldWorker,
  stream: string,
  query: Record<string, unknown>,
  stopping: AbortSignal,
): Promise<Answer | undefined> {
  const text = once(query, 'min_seq');
  if (text === undefined) return undefined;
  const minSeq = parseInt64(text);
  if (minSeq === null || minSeq < 0n) throw new Fault('malformed', 'min_seq: must be a seq, 0 or higher');
  const { reached, mark } = await worker.waitFor(stream, minSeq, waitMs(query), stopping);
  if (reached) return undefined;
  return {
    status: 504,
    body: `{"error":"not folded through ${minSeq} in time","folded_through":${mark?.watermark.foldedThrough ?? 0n}}`,
    headers: { 'tidemark-outcome': 'not-done' },
  };
}
