import type { FastifyReply, FastifyRequest } from 'fastify';
import { type FoldWorker, type Waited, waitForOp } from '@tidemark/libs-fold';
import { type Clock, Fault } from '@tidemark/libs-kernel';
import type { OpStore } from '@tidemark/libs-op-store-contract';
import { type Answer, once, stillAllowed, waitMs, whenGone } from '@tidemark/libs-service-kit';
import { parseInt64 } from '@tidemark/libs-wire';

export interface ReadWaitParts {
  readonly worker: Pick<FoldWorker, 'waitFor'>;
  readonly opStore: Pick<OpStore, 'seqOf'>;
  readonly clock: Clock;
  readonly stopping: AbortSignal;
}

/** Who reads, and asks for what. */
export interface Read {
  readonly stream: string;
  readonly query: Record<string, unknown>;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** undefined: the stream is folded so far, or nobody asked for it; otherwise the 504 that tells the mark. */
export type ReadWait = (read: Read) => Promise<Answer | undefined>;

/**
 * `min_seq` waits until the stream is folded through that seq, `min_op` until the op of that id is folded: at most `wait` seconds, not for a
 * reader that has gone, and not into a shutdown (FLD-8).
 */
export function readWait(parts: ReadWaitParts): ReadWait {
  return async ({ stream, query, request, reply }) => {
    const [minSeq, minOp, ms] = [seqIn(query), opIn(query), waitMs(query)];
    if (minSeq !== undefined && minOp !== undefined)
      throw new Fault('malformed', 'min_op: stands alone, without min_seq');
    if (minSeq === undefined && minOp === undefined) return undefined;
    const over = ms > 0 ? AbortSignal.any([parts.stopping, whenGone(request, reply)]) : parts.stopping;
    const waitFor = parts.worker.waitFor.bind(parts.worker);
    const waited =
      minOp === undefined
        ? { seq: minSeq ?? 0n, ...(await waitFor(stream, minSeq ?? 0n, ms, over)) }
        : await waitForOp({ ...parts, waitFor }, stream, minOp, ms, over);
    // Whoever waited may have lost the right to read meanwhile.
    if (ms > 0 && !(await stillAllowed(request))) throw new Fault('denied', 'the right to read this stream has ended');
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
