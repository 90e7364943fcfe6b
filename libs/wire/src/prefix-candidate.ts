import { fnv1a64 } from './fnv1a.ts';
import { utf8Bytes } from './unicode.ts';

const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz';

/** The nth prefix that a relay offers a replica whose own choice is taken; every backend walks the same candidates. */
export function prefixCandidate(replicaUuid: string, n: number): string {
  const hash = fnv1a64(Buffer.concat([utf8Bytes(replicaUuid), littleEndian32(n)]));
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
