import { type KeyObject, createPublicKey } from 'node:crypto';

/** What JWTs are verified with; the key alone decides the algorithms, never the token. */
export interface JwtKey {
  readonly key: KeyObject | Uint8Array;
  readonly algorithms: readonly string[];
}

const HMAC = ['HS256', 'HS384', 'HS512'];
const SECRET_BYTES_MIN = 32;
const RSA_BITS_MIN = 2048;
const RSA = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];
const CURVES: Readonly<Record<string, string>> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' };

/** Of a key set every algorithm with a public key; never one with a shared secret. */
export const PUBLIC_ALGORITHMS = [...RSA, ...Object.values(CURVES), 'EdDSA', 'Ed25519'];

/** A public key in PEM, or else a shared secret. Throws an Error that says what is wrong, without the key. */
export function readJwtKey(text: string): JwtKey {
  if (text.includes('PRIVATE KEY-----')) throw new Error('holds a private key; give its public key');
  if (text.startsWith('-----BEGIN')) return publicKey(text);
  const secret = Buffer.from(text);
  if (secret.length < SECRET_BYTES_MIN) throw new Error(`a shared secret needs at least ${SECRET_BYTES_MIN} bytes`);
  return { key: secret, algorithms: HMAC };
}

function publicKey(pem: string): JwtKey {
  const key = parsePem(pem);
  const { modulusLength = 0, namedCurve = '' } = key.asymmetricKeyDetails ?? {};
  switch (key.asymmetricKeyType) {
    case 'rsa':
      if (modulusLength < RSA_BITS_MIN) throw new Error(`an RSA key needs at least ${RSA_BITS_MIN} bits`);
      return { key, algorithms: RSA };
    case 'ec': {
      const algorithm = CURVES[namedCurve];
      if (algorithm !== undefined) return { key, algorithms: [algorithm] };
      break;
    }
    case 'ed25519':
      return { key, algorithms: ['EdDSA', 'Ed25519'] };
  }
  throw new Error('a key of a kind that JWTs are not signed with here: RSA, P-256, P-384, P-521 and Ed25519 are');
}

function parsePem(pem: string): KeyObject {
  try {
    return createPublicKey(pem);
  } catch {
    throw new Error('holds no readable public key');
  }
}
