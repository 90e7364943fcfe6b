import {
  type Claim,
  type DedupeKey,
  type Deduplicator,
  RunningCalls,
  type StoredId,
  answerRepeats,
  claimedOf,
  leaseOrDefault,
  storedKeyOf,
} from '@tidemark/libs-dedupe-contract';
import type { Clock, Random, Sleeper } from '@tidemark/libs-kernel';
import type { OwnClient } from './client.ts';
import { type DedupeLog, checkTable, pingTable } from './check-table.ts';
import { type CommitParts, commitAll } from './commit.ts';
import { committedItem, retentionEndMs } from './item.ts';
import type { DynamodbDedupeMetrics } from './metrics.ts';
import { Opening } from './opening.ts';
import { type Held, releaseAll } from './release.ts';
import { type ReserveParts, reserveDistinct } from './reserve.ts';
import { ReserveBreaker } from './reserve-breaker.ts';
import { Slots } from './slots.ts';
import { TableCalls } from './table-calls.ts';

export interface DynamodbDedupeParts {
  readonly client: OwnClient;
  readonly table: string;
  /** Leases and retentions run on its wall clock: every service that shares the table has one, and they must agree to a few seconds. */
  readonly clock: Clock;
  readonly sleeper: Sleeper;
  readonly random: Random;
  readonly log: DedupeLog;
  readonly metrics: DynamodbDedupeMetrics;
  /** For one call to DynamoDB with all its attempts. Default 250. */
  readonly timeoutMs?: number;
  /** Of one call. Default 3. */
  readonly attemptsMax?: number;
  /** Puts in flight at once, of all reserves together; as many commits and releases beside them. Default 64. */
  readonly reserveConcurrency?: number;
}

const TIMEOUT_MS = 250;
const ATTEMPTS_MAX = 3;
export const RESERVE_CONCURRENCY = 64;
/** A look at the table is two steps of calls, and its first ones dial and fetch credentials: ten times a call's time in all. */
const CHECK_TIMEOUT_FACTOR = 5;

/** The store on a client that is open, which closing it closes. Refuses a table that is wrong (`misconfigured`). */
export async function dynamodbDeduplicator(parts: DynamodbDedupeParts): Promise<Deduplicator> {
  const { timeoutMs = TIMEOUT_MS, attemptsMax = ATTEMPTS_MAX, reserveConcurrency = RESERVE_CONCURRENCY } = parts;
  const { clock, log, metrics } = parts;
  const looks = new TableCalls({ ...parts, timeoutMs: CHECK_TIMEOUT_FACTOR * timeoutMs, attemptsMax });
  const opening = await Opening.begin({ ...parts, check: () => checkTable(looks, log) });
  return new DynamodbDeduplicator(opening, {
    ...parts,
    calls: new TableCalls({ ...parts, timeoutMs, attemptsMax }),
    putSlots: new Slots(reserveConcurrency),
    settleSlots: new Slots(reserveConcurrency),
    breaker: new ReserveBreaker(clock, () => metrics.shortCircuit()),
  });
}

interface StoreParts extends ReserveParts, CommitParts {
  readonly client: OwnClient;
}

class DynamodbDeduplicator implements Deduplicator {
  readonly #running = new RunningCalls();
  readonly #opening: Opening;
  readonly #parts: StoreParts;

  constructor(opening: Opening, parts: StoreParts) {
    this.#opening = opening;
    this.#parts = parts;
  }

  reserve(keys: readonly DedupeKey[], leaseMs: number): Promise<readonly Claim[]> {
    return this.#run(() =>
      answerRepeats(keys, (ids) => {
        this.#countHashed(ids);
        return reserveDistinct(this.#parts, ids, leaseOrDefault(leaseMs));
      }),
    );
  }

  commit(claims: readonly Claim[], retentionMs: number): Promise<void> {
    return this.#run(() => {
      const endMs = retentionEndMs(this.#parts.clock.now(), retentionMs);
      const items = new Map(heldOf(claims).map(({ stored, token }) => [stored, committedItem(stored, token, endMs)]));
      return commitAll(this.#parts, [...items.values()]);
    });
  }

  release(claims: readonly Claim[]): Promise<void> {
    return this.#run(() => releaseAll(this.#parts, heldOf(claims)));
  }

  ping(): Promise<void> {
    return this.#run(() => pingTable(this.#parts.calls));
  }

  close(): Promise<void> {
    const { client } = this.#parts;
    return this.#running.close(
      () => this.#opening.stop(),
      async () => client.destroy(),
    );
  }

  #run<T>(call: () => Promise<T>): Promise<T> {
    return this.#running.run(async () => {
      this.#opening.assertOpen();
      return call();
    });
  }

  #countHashed(ids: readonly StoredId[]): void {
    for (const { key, stored } of ids) if (isHashed(stored)) this.#parts.metrics.hashedId(key.table);
  }
}

function heldOf(claims: readonly Claim[]): Held[] {
  return claimedOf(claims).map(({ key, token }) => ({ stored: storedKeyOf(key), token }));
}

/** No part of a stored key has a `#` but the hash of an id. */
function isHashed(stored: string): boolean {
  return stored.includes('#');
}
