import type { Deduplicator } from '@tidemark/libs-dedupe-contract';
import { serverTests } from '@tidemark/tools-services/testing';
import { LEASE_MS, SpecTable, keyOf, skewed, statuses } from './spec-table.ts';

const dynamodbTest = serverTests('dynamodb');

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** What ING-6 asks of a broker that stands beside this store: lease + ceil(lease) + 1 s + 5 s. */
const DUPLICATE_WINDOW_MS = 2 * LEASE_MS + 1000 + 5000;

/** A broker that drops a repeat of an id that it stored less than a window ago. */
class Queue {
  readonly #storedAtMs = new Map<string, number>();
  stored = 0;

  publish(id: string, nowMs: number): void {
    const atMs = this.#storedAtMs.get(id);
    if (atMs !== undefined && nowMs - atMs < DUPLICATE_WINDOW_MS) return;
    this.#storedAtMs.set(id, nowMs);
    this.stored++;
  }
}

/**
 * A publishes an event and is not told whether the queue has it: its claim is left to lapse. The client comes back after `retryAfterMs`, to
 * B, and waits as long as it is told whenever the id is in flight. Answers how often the queue has the event, and when B published it.
 */
async function uncertainPublish(table: SpecTable, a: Deduplicator, b: Deduplicator, id: string, retryAfterMs: number) {
  const queue = new Queue();
  const { time } = table;
  const startMs = time.now();
  expect(statuses(await a.reserve([keyOf(id)], LEASE_MS))).toEqual(['claimed']);
  queue.publish(id, time.now());
  time.advance(retryAfterMs);
  let claims = await b.reserve([keyOf(id)], LEASE_MS);
  for (; statuses(claims)[0] === 'in_flight'; claims = await b.reserve([keyOf(id)], LEASE_MS)) time.advance(LEASE_MS);
  expect(statuses(claims)).toEqual(['claimed']);
  const againMs = time.now() - startMs;
  queue.publish(id, time.now());
  await b.commit(claims, 0);
  expect(statuses(await a.reserve([keyOf(id)], LEASE_MS))).toEqual(['duplicate']);
  return { stored: queue.stored, againMs };
}

/** A's clock is the true one, B's is skewed. */
async function replicas(table: SpecTable, skewMs: number): Promise<[Deduplicator, Deduplicator]> {
  return [await table.open(), await table.open({ clock: skewed(table.time, skewMs) })];
}

// kills: item.ts: return Math.floor(ms / 1000) => return Math.floor(ms / 1000) - 2
dynamodbTest(
  'DDP-7: with clocks 5 s apart an event of unknown fate is stored once, whenever its client comes back',
  async ({ endpoint }) => {
    const table = await SpecTable.make(endpoint);
    let latestMs = 0;
    for (const skewMs of [-5000, -4001, 0, 5000]) {
      const [a, b] = await replicas(table, skewMs);
      // Around the end of the lease, as B sees it, at any part of a second: the table counts whole ones.
      for (let earlyMs = -1500; earlyMs <= 1500; earlyMs += 500) {
        table.time.advance(700);
        const retryAfterMs = LEASE_MS - skewMs + earlyMs;
        const { stored, againMs } = await uncertainPublish(table, a, b, `${skewMs} ${earlyMs}`, retryAfterMs);
        expect([skewMs, earlyMs, stored]).toEqual([skewMs, earlyMs, 1]);
        latestMs = Math.max(latestMs, againMs);
      }
    }
    // The 5 s are needed: without them the window would have been over.
    expect(latestMs).toBeGreaterThan(DUPLICATE_WINDOW_MS - 5000);
  },
  120_000,
);

dynamodbTest(
  'DDP-7: a replica whose clock is 5 minutes behind holds foreign claims longer than the queue drops repeats',
  async ({ endpoint }) => {
    const table = await SpecTable.make(endpoint);
    const [a, b] = await replicas(table, -5 * MINUTE_MS);
    expect(await uncertainPublish(table, a, b, 'a', LEASE_MS)).toEqual({ stored: 2, againMs: 11 * LEASE_MS });
  },
);

dynamodbTest(
  'DDP-7: a replica whose clock is 5 minutes ahead takes over live claims, and the queue drops the repeat',
  async ({ endpoint }) => {
    const table = await SpecTable.make(endpoint);
    const [a, b] = await replicas(table, 5 * MINUTE_MS);
    expect(await uncertainPublish(table, a, b, 'a', 0)).toEqual({ stored: 1, againMs: 0 });
  },
);

dynamodbTest(
  'DDP-7: a skew shortens or prolongs a retention by itself, and "for ever" not at all',
  async ({ endpoint }) => {
    const table = await SpecTable.make(endpoint);
    const [a, ahead] = await replicas(table, 5 * MINUTE_MS);
    const behind = await table.open({ clock: skewed(table.time, -5 * MINUTE_MS) });
    await a.commit(await a.reserve([keyOf('hour')], LEASE_MS), HOUR_MS);
    await a.commit(await a.reserve([keyOf('ever')], LEASE_MS), 0);
    const statusAt = async (store: Deduplicator, id: string) => {
      const claims = await store.reserve([keyOf(id)], LEASE_MS);
      await store.release(claims);
      return statuses(claims)[0];
    };
    table.time.advance(HOUR_MS - 5 * MINUTE_MS - 1000);
    expect(await statusAt(ahead, 'hour')).toBe('duplicate');
    table.time.advance(6 * MINUTE_MS + 1000);
    expect([await statusAt(behind, 'hour'), await statusAt(a, 'hour')]).toEqual(['duplicate', 'claimed']);
    await a.commit(await a.reserve([keyOf('next')], LEASE_MS), HOUR_MS);
    table.time.advance(HOUR_MS - 5 * MINUTE_MS + 1000);
    expect([await statusAt(a, 'next'), await statusAt(ahead, 'next')]).toEqual(['duplicate', 'claimed']);
    for (const store of [a, ahead, behind]) expect(await statusAt(store, 'ever')).toBe('duplicate');
  },
);
