export type Registration =
  { readonly outcome: 'registered' } | { readonly outcome: 'reassigned'; readonly newPrefix: string };

/** How many candidates of a replica are tried before its stream counts as full. */
export const PREFIX_CANDIDATES_MAX = 100_000;

/**
 * Arbitrates replica prefixes per stream. Rules and goldens: docs/protocol/relay.md, "Prefixes" (RLY-15). In short: a replica that
 * owns a prefix is told that one; else the asked prefix if it is free; else its first free `prefixCandidate`. Claims are never released.
 */
export interface PrefixRegistry {
  /** Atomic under any concurrency; a uuid gets the same answer for ever. Fault `unavailable` when the prefix space is exhausted. */
  register(stream: string, prefix: string, replicaUuid: string): Promise<Registration>;
}
