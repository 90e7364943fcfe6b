import { ok } from 'node:assert/strict';
import type { ConformanceCase, ManualTime } from '@tidemark/libs-kernel/testing';
import type { Claim, ClaimedKey, DedupeKey, Deduplicator } from '../deduplicator.ts';

/** What a backend declares; it decides which cases run and how exact they are. */
export interface DedupeManifest {
  /** Several clients may be open on one store at a time. */
  readonly sharedAcrossProcesses: boolean;
  /** A lease or retention may end this much late, never early. */
  readonly expiryRoundsUpMs: number;
}

/** One empty store. Whoever runs a case closes what the case left open. */
export interface DedupeHarness {
  readonly manifest: DedupeManifest;
  /** The clock of every client. */
  readonly time: ManualTime;
  /** Another client of the same store; where clients cannot share it, only after the one before was closed. */
  open(): Promise<Deduplicator>;
  /** The next reserve of several keys fails `unavailable` inside the store, after its first key where the backend can do that. */
  breakNextReserve(): void;
}

export interface DedupeCase extends ConformanceCase<DedupeHarness> {
  readonly needs?: 'sharedAcrossProcesses';
  /** Thousands of ids: a backend to which each is a call runs it among its long tests. */
  readonly isLarge?: true;
}

export const LEASE_MS = 30_000;
export const RETENTION_MS = 3_600_000;
/** Past every end that a case speaks of, whatever a backend rounds. */
export const SLACK_MS = 5_000;

export function keyOf(id: string, table = 'clicks', tenant = 'acme'): DedupeKey {
  return { tenant, table, id };
}

export function statuses(claims: readonly Claim[]): string[] {
  return claims.map((claim) => claim.status);
}

export async function statusOf(client: Deduplicator, key: DedupeKey): Promise<string> {
  return statuses(await client.reserve([key], LEASE_MS)).join();
}

export async function claimOf(client: Deduplicator, key: DedupeKey, leaseMs = LEASE_MS): Promise<ClaimedKey> {
  const [claim] = await client.reserve([key], leaseMs);
  ok(claim?.status === 'claimed', `${key.tenant}/${key.table}/${key.id} is claimed`);
  return claim;
}

export async function commitKey(client: Deduplicator, key: DedupeKey, retentionMs = RETENTION_MS): Promise<void> {
  await client.commit([await claimOf(client, key)], retentionMs);
}

/** Each of the keys can be claimed beside all the others. */
export async function eachClaimed(client: Deduplicator, keys: readonly DedupeKey[]): Promise<void> {
  for (const key of keys) await claimOf(client, key);
}
