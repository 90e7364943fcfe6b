import { z } from 'zod';
import type { Clock } from '@tidemark/libs-kernel';
import type { Logger } from '../log.ts';
import {
  type Settings,
  type SettingsRule,
  SettingsProblem,
  type SettingsShape,
  address,
  isLoopback,
  secret,
} from '../settings.ts';
import type { Authenticator } from './authenticator.ts';
import { openJwt } from './jwt.ts';
import { readJwtKey } from './jwt-key.ts';
import { TokensFile } from './tokens-file.ts';

export const authSettings = {
  TIDEMARK_AUTH: z
    .enum(['none', 'tokens', 'jwt'])
    .optional()
    .describe('unset: the service binds loopback only; none: anyone who can reach it may use it; tokens; jwt'),
  TIDEMARK_TOKENS_FILE: z.string().min(1).optional().describe('tokens: file of hashed tokens and what they may do'),
  TIDEMARK_JWKS_URL: z
    .string()
    .transform(
      (text, context) =>
        keysUrl(text) ?? fail(context, 'must be an https URL, or http on a loopback address, without a password'),
    )
    .optional()
    .describe("jwt: URL of the issuer's public keys"),
  TIDEMARK_JWT_KEY: secret(
    z
      .string()
      .transform((text, context) => {
        try {
          return readJwtKey(text);
        } catch (error) {
          return fail(context, (error as Error).message);
        }
      })
      .optional()
      .describe('jwt: the public key in PEM, or the shared secret'),
  ),
  TIDEMARK_JWT_ISSUER: z.string().min(1).optional().describe('jwt: the iss that a token must have'),
  TIDEMARK_JWT_AUDIENCE: z.string().min(1).optional().describe('jwt: an aud that a token must have'),
} satisfies SettingsShape;

/** Which settings go together. A setting that would have no effect is refused: somebody relies on it. */
export const authRule: SettingsRule = (given) => {
  const kind = given.TIDEMARK_AUTH;
  const has = (name: string) => given[name] !== undefined;
  const idle = (names: readonly string[], of: string) =>
    kind === of ? [] : names.filter(has).map((name) => `${name}: has no effect without TIDEMARK_AUTH=${of}`);
  const problems = [
    ...idle(['TIDEMARK_TOKENS_FILE'], 'tokens'),
    ...idle(['TIDEMARK_JWKS_URL', 'TIDEMARK_JWT_KEY', 'TIDEMARK_JWT_ISSUER', 'TIDEMARK_JWT_AUDIENCE'], 'jwt'),
  ];
  if (kind === 'tokens' && !has('TIDEMARK_TOKENS_FILE'))
    problems.push('TIDEMARK_TOKENS_FILE: is needed with TIDEMARK_AUTH=tokens');
  if (kind === 'jwt' && has('TIDEMARK_JWKS_URL') === has('TIDEMARK_JWT_KEY'))
    problems.push('TIDEMARK_JWKS_URL: it or TIDEMARK_JWT_KEY_FILE is needed with TIDEMARK_AUTH=jwt, and not both');
  return problems;
};

/** Without TIDEMARK_AUTH nobody is asked who they are, so only this machine may connect (SEC-1). */
export const openDoorRule =
  (...addressSettings: readonly string[]): SettingsRule =>
  (given) => {
    if (given.TIDEMARK_AUTH !== undefined) return [];
    return addressSettings.flatMap((name) => {
      const { data } = address.safeParse(given[name] ?? '');
      return data === undefined || isLoopback(data.host)
        ? []
        : [
            `${name}: ${data.host} is not a loopback address; set TIDEMARK_AUTH=none to serve other machines without authentication`,
          ];
    });
  };

/** null: nobody is asked. */
export async function openAuthenticator(
  settings: Settings<typeof authSettings>,
  parts: { readonly clock: Clock; readonly log: Logger },
): Promise<Authenticator | null> {
  switch (settings.TIDEMARK_AUTH) {
    case undefined:
    case 'none':
      return null;
    case 'tokens':
      return openTokens(settings.TIDEMARK_TOKENS_FILE ?? '', parts);
    case 'jwt':
      return openJwt({
        ...parts,
        keys: (settings.TIDEMARK_JWKS_URL ?? settings.TIDEMARK_JWT_KEY)!,
        issuer: settings.TIDEMARK_JWT_ISSUER,
        audience: settings.TIDEMARK_JWT_AUDIENCE,
      });
  }
}

async function openTokens(file: string, parts: { readonly clock: Clock; readonly log: Logger }): Promise<TokensFile> {
  try {
    return await TokensFile.open({ file, ...parts });
  } catch (error) {
    throw new SettingsProblem([`TIDEMARK_TOKENS_FILE: ${file}: ${(error as Error).message}`]);
  }
}

function keysUrl(text: string): URL | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  const safe =
    url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname.replace(/^\[|\]$/g, '')));
  return safe && url.username === '' && url.password === '' ? url : null;
}

function fail(context: z.core.$RefinementCtx, message: string): never {
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
}
