import { createHash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Claim, DedupeKey, Deduplicator } from '@tidemark/libs-dedupe-contract';
import { connectEmbeddedDeduplicator } from '@tidemark/libs-dedupe-embedded';
import { SeededRandom } from '@tidemark/libs-kernel/testing';

const LEASE_MS = 30_000;
const FILL = 5_000;

/** An embedded store that holds so many committed ids, which came in no order. */
export class GrownStore {
  readonly size: number;
  readonly #store: Deduplicator;

  private constructor(store: Deduplicator, size: number) {
    this.#store = store;
    this.size = size;
  }

  /** Closed and opened again after it was filled, and swept once: as a store is some minutes after its service has started. */
  static async make(folder: string, size: number): Promise<GrownStore> {
    const filled = await open(folder, sleep);
    for (let n = 0; n < size; n += FILL) {
      const claims = Array.from({ length: Math.min(FILL, size - n) }, (_, i) => claimOf(keyOf(n + i)));
      await filled.commit(claims, 0);
    }
    await filled.close();
    const swept = Promise.withResolvers<void>();
    let passes = 0;
    // The minute before the first pass, and the pauses in it, are not waited for.
    const hurried = (ms: number, signal?: AbortSignal) =>
      ms > 1_000 && passes++ > 0 ? sleep(ms, signal) : Promise.resolve();
    const store = await open(folder, hurried, () => swept.resolve());
    await swept.promise;
    return new GrownStore(store, size);
  }

  reserveNew(turn: number, count: number): Promise<Reserved> {
    return this.#reserve(Array.from({ length: count }, (_, i) => keyOf(-1 - turn * count - i)));
  }

  /** Spread over all that are stored. */
  reserveKnown(turn: number, count: number): Promise<Reserved> {
    return this.#reserve(Array.from({ length: count }, (_, i) => keyOf((turn * 7_919 + i * 104_729) % this.size)));
  }

  commit(claims: readonly Claim[]): Promise<void> {
    return this.#store.commit(claims, 0);
  }

  release(claims: readonly Claim[]): Promise<void> {
    return this.#store.release(claims);
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  async #reserve(keys: readonly DedupeKey[]): Promise<Reserved> {
    const startMs = performance.now();
    const claims = await this.#store.reserve(keys, LEASE_MS);
    return { claims, tookMs: performance.now() - startMs };
  }
}

function open(
  folder: string,
  sleepFor: (ms: number, signal?: AbortSignal) => Promise<void>,
  onSweep = () => {},
): Promise<Deduplicator> {
  const clock = { now: () => Date.now(), monotonic: () => performance.now() };
  return connectEmbeddedDeduplicator({
    folder,
    clock,
    sleeper: { sleep: sleepFor },
    random: new SeededRandom(1),
    onSweep,
  });
}

async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { ...(signal && { signal }) }).catch(() => {});
}

export interface Reserved {
  readonly claims: readonly Claim[];
  readonly tookMs: number;
}

function keyOf(n: number): DedupeKey {
  return { tenant: 'acme', table: 'clicks', id: createHash('md5').update(`${n}`).digest('hex') };
}

/** As after a reserve: a commit does not ask whether it holds the key. */
function claimOf(key: DedupeKey): Claim {
  return { status: 'claimed', key, token: 'fill' };
}
