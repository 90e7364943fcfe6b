import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { type DedupeKey, type Deduplicator } from '@tidemark/libs-dedupe-contract';
import { connectEmbeddedDeduplicator } from '@tidemark/libs-dedupe-embedded';
import { SeededRandom } from '@tidemark/libs-kernel/testing';

const WINDOW = 256;
const LEASE_MS = 30_000;
const RETENTION_MS = 1_000;

/** Reserve times in milliseconds on the real adapter: before and after a sweep, and beside it. */
export interface SweepTimes {
  readonly alone: number[];
  readonly beside: number[];
}

/** The sweep deletes `expired` ids. Checks that it deleted them, and that ids kept for ever are still duplicates. */
export async function reserveBesideSweep(folder: string, expired: number): Promise<SweepTimes> {
  const sweep = Promise.withResolvers<void>();
  const swept = Promise.withResolvers<number>();
  let skippedMs = 0;
  const store = await connectEmbeddedDeduplicator({
    folder,
    clock: { now: () => Date.now() + skippedMs, monotonic: () => performance.now() },
    random: new SeededRandom(1),
    // The long sleep before a pass ends when we say so; the pauses inside it are real.
    sleeper: { sleep: (ms, signal) => (ms > 1_000 ? untilAborted(sweep.promise, signal) : setTimeout(ms)) },
    onSweep: (report) => swept.resolve(report.kind === 'done' ? report.expired : -1),
  });
  await commitIds(store, 'kept', WINDOW, 0);
  for (let i = 0; i < expired; i += 5_000)
    await commitIds(store, `old-${i}`, Math.min(5_000, expired - i), RETENTION_MS);
  skippedMs = 2 * RETENTION_MS;

  const alone: number[] = [];
  for (let turn = 0; turn < 200; turn++) alone.push(await reserveMs(store, `before-${turn}`));
  let sweeping = true;
  void swept.promise.then(() => (sweeping = false));
  sweep.resolve();
  const beside: number[] = [];
  for (let turn = 0; sweeping; turn++) beside.push(await reserveMs(store, `beside-${turn}`));

  for (let turn = 0; turn < 200; turn++) alone.push(await reserveMs(store, `after-${turn}`));

  assert.equal(await swept.promise, expired);
  const kept = await store.reserve(keysOf('kept', WINDOW), LEASE_MS);
  assert.ok(kept.every(({ status }) => status === 'duplicate'));
  await store.close();
  return { alone, beside };
}

async function reserveMs(store: Deduplicator, prefix: string): Promise<number> {
  const keys = keysOf(prefix, WINDOW);
  const startMs = performance.now();
  const claims = await store.reserve(keys, LEASE_MS);
  const tookMs = performance.now() - startMs;
  assert.ok(claims.every(({ status }) => status === 'claimed'));
  await store.release(claims);
  return tookMs;
}

async function commitIds(store: Deduplicator, prefix: string, count: number, retentionMs: number): Promise<void> {
  await store.commit(await store.reserve(keysOf(prefix, count), LEASE_MS), retentionMs);
}

function keysOf(prefix: string, count: number): DedupeKey[] {
  return Array.from({ length: count }, (_, i) => ({ tenant: 'acme', table: 'clicks', id: `${prefix}-${i}` }));
}

function untilAborted(promise: Promise<void>, signal?: AbortSignal): Promise<void> {
  const aborted = new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }));
  return Promise.race([promise, aborted]);
}
