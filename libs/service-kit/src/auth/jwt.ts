import type { CryptoKey, JWTPayload, JWTVerifyOptions } from 'jose';
import { type Clock, Fault, type Sleeper } from '@tidemark/libs-kernel';
import type { Logger } from '../log.ts';
import { type Authenticator, type Verdict, refused } from './authenticator.ts';
import { callerName, grantList, problemsOf, roleList } from './grants.ts';
import { type JwtKey, PUBLIC_ALGORITHMS } from './jwt-key.ts';

export interface JwtOptions {
  /** Where the issuer publishes its keys, or the one key. */
  readonly keys: URL | JwtKey;
  readonly issuer?: string | undefined;
  readonly audience?: string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/** How far the issuer's clock may be from ours. */
const CLOCK_SKEW_SECS = 30;
const FETCH_MS_MAX = 5000;
const FETCH_AGAIN_MS = 5 * 60 * 1000;

/**
 * JWTs of an issuer. A token must be signed by a known key with an algorithm of that key's kind, carry `exp` and `sub`, and fit the
 * issuer and audience where they are set; its rights stand in the claim `tidemark`, a list of grants, and its roles in `tidemark_roles`.
 * Published keys are fetched when first needed, every 5 minutes, and when a token names an unknown one (at most every 30 seconds).
 * While they cannot be fetched, those fetched last stay in force.
 */
export async function openJwt({ keys, issuer, audience, clock, log }: JwtOptions): Promise<Authenticator> {
  const { createRemoteJWKSet, errors, jwtVerify } = await import('jose');
  const claims = { ...(issuer !== undefined && { issuer }), ...(audience !== undefined && { audience }) };
  const published =
    keys instanceof URL
      ? createRemoteJWKSet(keys, { timeoutDuration: FETCH_MS_MAX, cacheMaxAge: Infinity })
      : undefined;

  const payloadOf = async (token: string): Promise<JWTPayload> => {
    const algorithms = [...(keys instanceof URL ? PUBLIC_ALGORITHMS : keys.algorithms)];
    const options: JWTVerifyOptions = {
      ...claims,
      algorithms,
      requiredClaims: ['exp', 'sub'],
      clockTolerance: CLOCK_SKEW_SECS,
      currentDate: new Date(clock.now()),
    };
    if (!(keys instanceof URL)) return (await jwtVerify(token, keys.key, options)).payload;
    try {
      return (await jwtVerify(token, published!, options)).payload;
    } catch (error) {
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
      return payloadByAny(error, token, options);
    }
  };

  /** A token that names no key may be signed with any that fits: there are two while the issuer goes from one to the next. */
  const payloadByAny = async (fitting: AsyncIterable<CryptoKey>, token: string, options: JWTVerifyOptions) => {
    let refusal: unknown;
    for await (const key of fitting)
      try {
        return (await jwtVerify(token, key, options)).payload;
      } catch (error) {
        refusal = error;
        if (!(error instanceof errors.JWSSignatureVerificationFailed)) break;
      }
    throw refusal;
  };

  /** Whether the token is to blame, and not the way to the keys. */
  const isTokensFault = (error: unknown): error is Error =>
    error instanceof errors.JOSEError &&
    !['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID'].includes(error.code);

  return {
    async authenticate(token) {
      try {
        return callerOf(await payloadOf(token));
      } catch (error) {
        if (isTokensFault(error)) return refused(error.message);
        log.warn({ err: error }, 'the keys that tokens are checked with cannot be read');
        throw new Fault('unavailable', 'the token cannot be checked now', { cause: error });
      }
    },
    async watch(sleeper: Sleeper, signal: AbortSignal) {
      while (published !== undefined && !signal.aborted) {
        await published.reload().catch((error: unknown) => log.warn({ err: error }, 'the keys cannot be fetched'));
        await sleeper.sleep(FETCH_AGAIN_MS, signal);
      }
    },
  };
}

function callerOf(payload: JWTPayload): Verdict {
  const name = callerName.safeParse(payload.sub);
  if (!name.success) return refused('the claim sub names no caller');
  const grants = grantList.safeParse(payload.tidemark ?? []);
  if (!grants.success) return refused(`the claim tidemark: ${problemsOf(grants.error).join('; ')}`);
  const roles = roleList.safeParse(payload.tidemark_roles ?? []);
  if (!roles.success) return refused(`the claim tidemark_roles: ${problemsOf(roles.error).join('; ')}`);
  return { kind: 'caller', caller: { name: name.data, grants: grants.data, roles: roles.data, claims: payload } };
}
