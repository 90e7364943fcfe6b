import { fnv1a64 } from './fnv1a.ts';
import { utf8Bytes } from './unicode.ts';

const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz';

/** The nth prefix that a relay offers a replica whose own choice is taken; every backend walks the same candidates. */
export function prefixCandidate(replicaUuid: string, n: number): string {
  return prefixCandidates(replicaUuid)(n);
}

/** The same for several n. The uuid, which may be as long as a body, is hashed once for all of them (OPS-4). */
export function prefixCandidates(replicaUuid: string): (n: number) => string {
  const begun = fnv1a64(utf8Bytes(replicaUuid));
  return (n) => prefixOf(fnv1a64(littleEndian32(n), begun));
}

function prefixOf(hash: bigint): string {
  let bits = Number(hash & 0xfffffn);
  let prefix = '';
  for (let i = 0; i < 4; i++) {
    prefix += CROCKFORD.charAt(bits & 31);
    bits >>= 5;
  }
  return prefix;
}

function littleEndian32(n: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(n);
  return bytes;
}
