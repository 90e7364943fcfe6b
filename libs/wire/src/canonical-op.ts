import type { Op } from './op.ts';
import { utf8Bytes } from './unicode.ts';

const TAG = Buffer.from('nxs-op/2', 'ascii');

/**
 * The bytes that a signature covers: every field but envelope_version and extra, each text behind its length, so no two ops share
 * them. The relay carries ops so that these bytes survive; it does not compute them. Lone surrogate: 'invalid'.
 */
export function canonicalOpBytes(op: Op): Uint8Array {
  return Buffer.concat([
    TAG,
    ...prefixed(op.opId),
    int64(op.lamport),
    int64(op.site),
    ...[op.domain, op.targetKind, op.targetId, op.field, op.opType].flatMap(prefixed),
    ...(op.value === null ? [Uint8Array.of(0)] : [Uint8Array.of(1), ...prefixed(op.value)]),
    ...prefixed(op.author),
    ...prefixed(op.wallClock),
  ]);
}

function prefixed(text: string): Uint8Array[] {
  const bytes = utf8Bytes(text);
  return [int64(BigInt(bytes.length)), bytes];
}

function int64(value: bigint): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}
