import type { Sleeper } from '@tidemark/libs-kernel';
import type { Grant } from './access.ts';

/** Who sent a request, and what it may do. */
export interface Caller {
  readonly name: string;
  readonly grants: readonly Grant[];
  /** Names that a service's own settings may give rights to. */
  readonly roles: readonly string[];
  /** What else is said of it, for a service's own settings to compare with. */
  readonly claims: Readonly<Record<string, unknown>>;
}

/** `refused`: the reason is for the log alone; a client learns nothing about a token that is not its own. */
export type Verdict =
  { readonly kind: 'caller'; readonly caller: Caller } | { readonly kind: 'refused'; readonly reason: string };

/** Tells whose a token is. */
export interface Authenticator {
  /** Fault `unavailable` when that cannot be told now. */
  authenticate(token: string): Promise<Verdict>;
  /** Keeps what tokens are checked with up to date until `signal` aborts. Never rejects: what was good last stays in force. */
  watch(sleeper: Sleeper, signal: AbortSignal): Promise<void>;
}

export const refused = (reason: string): Verdict => ({ kind: 'refused', reason });
