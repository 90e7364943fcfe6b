import type { Op } from './op.ts';
import { utf8Bytes } from './unicode.ts';

const TAG = Buffer.from('nxs-op/2', 'ascii');

/**
 * The bytes that a signature covers: every field but envelope_version and extra, each behind its length, so no two ops share them.
 * The relay carries ops so that these bytes survive; it does not compute them. Lone surrogate: 'invalid'.
 */
export function canonicalOpBytes(op: Op): Uint8Array {
  return Buffer.concat([
    TAG,
    ...text(op.opId),
    ...prefixed(int64(op.lamport)),
    ...prefixed(int64(op.site)),
    ...[op.domain, op.targetKind, op.targetId, op.field, op.opType].flatMap(text),
    ...(op.value === null ? [Uint8Array.of(0)] : [Uint8Array.of(1), ...text(op.value)]),
    ...text(op.author),
    ...text(op.wallClock),
  ]);
}

function text(value: string): Uint8Array[] {
  return prefixed(utf8Bytes(value));
}

function prefixed(bytes: Uint8Array): Uint8Array[] {
  return [int64(BigInt(bytes.length)), bytes];
}

function int64(value: bigint): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}
