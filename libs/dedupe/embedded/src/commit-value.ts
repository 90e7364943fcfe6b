import { I64_MAX } from '@tidemark/libs-wire';

const MARK = 0x02;
const BYTES = 9;
const NS_PER_MS = 1_000_000n;
/** Past this many milliseconds the nanoseconds would not fit. */
const COUNTABLE_MS_MAX = Number(I64_MAX / NS_PER_MS);

/** End of a retention that begins now, in nanoseconds of Unix time; 0 means never. One too long to count ends at the last instant. */
export function expiresAtNs(nowMs: number, retentionMs: number): bigint {
  if (!(retentionMs > 0)) return 0n;
  const atMs = Math.ceil(nowMs + retentionMs);
  return atMs < COUNTABLE_MS_MAX ? BigInt(atMs) * NS_PER_MS : I64_MAX;
}

/** 0x02, then the expiry as a big-endian signed 64-bit integer. */
export function encodeCommit(expiresNs: bigint): Uint8Array {
  const value = new Uint8Array(BYTES);
  value[0] = MARK;
  new DataView(value.buffer).setBigInt64(1, expiresNs);
  return value;
}

/** What a stored value says of its id. A value of any other shape is `unreadable`, and its id counts as never seen. */
export function stateOf(value: Uint8Array, nowMs: number): 'live' | 'expired' | 'unreadable' {
  if (value.length !== BYTES || value[0] !== MARK) return 'unreadable';
  const expiresNs = new DataView(value.buffer, value.byteOffset, BYTES).getBigInt64(1);
  const live = expiresNs === 0n || BigInt(Math.floor(nowMs)) * NS_PER_MS < expiresNs;
  return live ? 'live' : 'expired';
}

export function isLiveCommit(value: Uint8Array | undefined, nowMs: number): boolean {
  return value !== undefined && stateOf(value, nowMs) === 'live';
}
