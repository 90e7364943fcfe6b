import { utf8Bytes } from './unicode.ts';

/** FNV-1a, 32 bits, over the bytes or the text's UTF-8 bytes. */
export function fnv1a32(input: string | Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of bytesOf(input)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

/** FNV-1a, 64 bits, over the bytes or the text's UTF-8 bytes; `begun` is the hash of what stands before them. */
export function fnv1a64(input: string | Uint8Array, begun = OFFSET): bigint {
  let high = Number(begun >> 32n);
  let low = Number(begun & 0xffff_ffffn);
  for (const byte of bytesOf(input)) {
    low = (low ^ byte) >>> 0;
    // The prime is 2^40 + 0x1b3; every product stays below 2^53.
    const product = low * 0x1b3;
    high = (high * 0x1b3 + low * 0x100 + Math.floor(product / 0x1_0000_0000)) >>> 0;
    low = product >>> 0;
  }
  return (BigInt(high) << 32n) | BigInt(low);
}

const OFFSET = 0xcbf29ce484222325n;

function bytesOf(input: string | Uint8Array): Uint8Array {
  return typeof input === 'string' ? utf8Bytes(input) : input;
}
