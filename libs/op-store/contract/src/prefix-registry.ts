export type Registration =
  { readonly outcome: 'registered' } | { readonly outcome: 'reassigned'; readonly newPrefix: string };

/** Arbitrates replica prefixes per stream. Rules and goldens: docs/protocol/relay.md, "Prefixes" (RLY-15). */
export interface PrefixRegistry {
  /** Atomic under any concurrency; a uuid gets the same answer for ever. Fault `unavailable` when the prefix space is exhausted. */
  register(stream: string, prefix: string, replicaUuid: string): Promise<Registration>;
}
