import { Fault, PUSH_BODY_BYTES_MAX } from '@tidemark/libs-kernel';
import { type Op, encodeOp } from '@tidemark/libs-wire';

/** An op and its text on the wire. */
export interface EncodedOp {
  readonly op: Op;
  readonly text: string;
}

/** Ops for one push; or an op that no relay can take, and why. */
export type Batch =
  | { readonly kind: 'ops'; readonly ops: readonly EncodedOp[] }
  | { readonly kind: 'impossible'; readonly op: Op; readonly reason: string };

const BATCH_OPS_MAX = 500;
const FRAME_BYTES = '{"ops":[]}'.length;

export function pushBody(ops: readonly EncodedOp[]): string {
  return `{"ops":[${ops.map(({ text }) => text).join(',')}]}`;
}

/** The ops in their order, in batches that one push takes. Each is encoded when its batch is asked for. */
export function* batchesOf(ops: readonly Op[]): Generator<Batch> {
  let batch: EncodedOp[] = [];
  let bytes = FRAME_BYTES;
  for (const op of ops) {
    const encoded = encode(op);
    const opBytes = encoded.kind === 'text' ? Buffer.byteLength(encoded.text) + 1 : Infinity;
    if (batch.length === BATCH_OPS_MAX || bytes + opBytes > PUSH_BODY_BYTES_MAX + 1) {
      if (batch.length > 0) yield { kind: 'ops', ops: batch };
      batch = [];
      bytes = FRAME_BYTES;
    }
    if (encoded.kind === 'impossible') yield { kind: 'impossible', op, reason: encoded.reason };
    else if (bytes + opBytes > PUSH_BODY_BYTES_MAX + 1)
      yield { kind: 'impossible', op, reason: `alone it takes more than ${PUSH_BODY_BYTES_MAX} bytes` };
    else {
      batch.push({ op, text: encoded.text });
      bytes += opBytes;
    }
  }
  if (batch.length > 0) yield { kind: 'ops', ops: batch };
}

type Encoded =
  { readonly kind: 'text'; readonly text: string } | { readonly kind: 'impossible'; readonly reason: string };

function encode(op: Op): Encoded {
  const wellFormed = [op.opId, op.domain, op.targetKind, op.targetId, op.field, op.opType, op.value ?? ''].every(
    (text) => text.isWellFormed(),
  );
  if (!wellFormed || !op.author.isWellFormed() || !op.wallClock.isWellFormed())
    return { kind: 'impossible', reason: 'it holds half of a character (a lone surrogate)' };
  try {
    return { kind: 'text', text: encodeOp(op) };
  } catch (thrown) {
    if (!(thrown instanceof Fault)) throw thrown;
    return { kind: 'impossible', reason: thrown.message };
  }
}
