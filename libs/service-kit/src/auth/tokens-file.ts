import { createHash, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { Clock, Sleeper } from '@tidemark/libs-kernel';
import type { Logger } from '../log.ts';
import { type Authenticator, type Caller, type Verdict, refused } from './authenticator.ts';
import { callerName, grantList, problemsOf, roleList } from './grants.ts';

const TOKENS_MAX = 1000;
const LOOK_MS = 2000;

const document = z.strictObject({
  tokens: z
    .array(
      z.strictObject({
        name: callerName,
        hash: z.string().regex(/^sha256:[0-9a-f]{64}$/, 'must be sha256: and 64 hex digits; npm run token makes it'),
        expires: z.iso.datetime({ offset: true, message: 'must be a time such as 2027-01-31T00:00:00Z' }).optional(),
        grants: grantList,
        roles: roleList.default([]),
        claims: z.record(z.string(), z.unknown()).default({}),
      }),
    )
    .max(TOKENS_MAX),
});

interface Entry {
  readonly caller: Caller;
  readonly sha256: Buffer;
  /** Infinity: never. */
  readonly expiresMs: number;
}

export interface TokensFileOptions {
  readonly file: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Tokens by their hashes, from a file that is read again when it changes. A file that became unreadable or wrong changes nothing: the
 * last good one stays in force, and the log says so. A token is random and long, so its plain SHA-256 can neither be guessed nor inverted.
 */
export class TokensFile implements Authenticator {
  readonly #options: TokensFileOptions;
  #text: string;
  #entries: readonly Entry[];

  private constructor(options: TokensFileOptions, text: string) {
    this.#options = options;
    this.#text = text;
    this.#entries = readTokens(text);
  }

  /** Rejects with an Error that says what is wrong with the file. */
  static async open(options: TokensFileOptions): Promise<TokensFile> {
    return new TokensFile(options, await readFile(options.file, 'utf8'));
  }

  /** Compares with every entry, each in constant time, so that an answer's time tells nothing of any hash. */
  async authenticate(token: string): Promise<Verdict> {
    const sha256 = createHash('sha256').update(token).digest();
    const [found] = this.#entries.filter((entry) => timingSafeEqual(entry.sha256, sha256));
    if (found === undefined) return refused('unknown token');
    const { caller, expiresMs } = found;
    if (this.#options.clock.now() >= expiresMs) return refused(`the token of ${caller.name} has expired`);
    return { kind: 'caller', caller };
  }

  /** Takes over the file as it is now. Never rejects. */
  async look(): Promise<void> {
    const { file, log } = this.#options;
    try {
      const text = await readFile(file, 'utf8');
      if (text === this.#text) return;
      // Also when it is wrong: the complaint comes once for each change.
      this.#text = text;
      this.#entries = readTokens(text);
      log.info({ file, tokens: this.#entries.length }, 'tokens read again');
    } catch (error) {
      log.error(
        { file, reason: (error as Error).message },
        'the tokens file cannot be used; its last good content stays in force',
      );
    }
  }

  async watch(sleeper: Sleeper, signal: AbortSignal): Promise<void> {
    for (;;) {
      await sleeper.sleep(LOOK_MS, signal);
      if (signal.aborted) return;
      await this.look();
    }
  }
}

/** What stands in a tokens file; an Error says what is wrong with it, each problem with its path. */
export function readTokens(text: string): Entry[] {
  const parsed = document.safeParse(parseJson(text));
  if (!parsed.success) throw new Error(problemsOf(parsed.error).join('; '));
  const entries = parsed.data.tokens.map(({ name, hash, expires, grants, roles, claims }) => ({
    caller: { name, grants, roles, claims },
    sha256: Buffer.from(hash.slice('sha256:'.length), 'hex'),
    expiresMs: expires === undefined ? Infinity : Date.parse(expires),
  }));
  const twice = entries.find(({ sha256 }, at) => entries.findIndex((other) => other.sha256.equals(sha256)) < at);
  if (twice !== undefined) throw new Error(`tokens[${entries.indexOf(twice)}].hash: stands twice`);
  return entries;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the text.
    throw new Error('not a JSON document');
  }
}
