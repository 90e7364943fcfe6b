import { type Clock, type Fault, type Sleeper, asFault } from '@tidemark/libs-kernel';
import { stateOf } from './commit-value.ts';
import { FORMAT_KEY } from './format.ts';
import type { JoinedWrites } from './joined-writes.ts';
import type { LevelFolder } from './level-folder.ts';
import type { StoredIds } from './stored-ids.ts';

/** Keys that one pass deleted: their retention was over, or their value was not in the format. */
export interface Swept {
  readonly expired: number;
  readonly unreadable: number;
}

export type SweepReport = ({ readonly kind: 'done' } & Swept) | { readonly kind: 'failed'; readonly fault: Fault };

export interface SweepParts {
  readonly level: LevelFolder;
  readonly writes: JoinedWrites;
  readonly stored: StoredIds;
  readonly clock: Clock;
  readonly sleeper: Sleeper;
  readonly onSweep: (report: SweepReport) => void;
}

const FIRST_PASS_AFTER_MS = 60_000;
const PASS_EVERY_MS = 3_600_000;
const CHUNK_KEYS = 1_024;
const PAUSE_MS = 10;
/** On disk, of an id that is short. */
const BYTES_PER_ID = 32;

/**
 * Gives the disk of expired ids back; what a reserve answers does not depend on it. Small chunks with pauses (at most about 100,000
 * keys a second), read beside everything else; only the check and deletion of a chunk's dead keys holds up commits, and no reserve.
 */
export class Sweeper {
  readonly #parts: SweepParts;
  readonly #stopping = new AbortController();
  readonly #stopped: Promise<void>;

  constructor(parts: SweepParts) {
    this.#parts = parts;
    this.#stopped = this.#sweepForEver();
  }

  /** Resolves when no pass runs any more: a pass stops after the chunk that it is at. */
  stop(): Promise<void> {
    this.#stopping.abort();
    return this.#stopped;
  }

  async #sweepForEver(): Promise<void> {
    const { signal } = this.#stopping;
    let waitMs = FIRST_PASS_AFTER_MS;
    for (;;) {
      await this.#parts.sleeper.sleep(waitMs, signal);
      if (signal.aborted) return;
      this.#parts.onSweep(await this.#pass(signal));
      waitMs = PASS_EVERY_MS;
    }
  }

  async #pass(signal: AbortSignal): Promise<SweepReport> {
    try {
      return { kind: 'done', ...(await sweepOnce(this.#parts, signal)) };
    } catch (thrown) {
      return { kind: 'failed', fault: asFault(thrown) };
    }
  }
}

/** Every key once, in order; ends early, with what it has deleted so far, when `signal` aborts. Learns which ids are stored. */
export async function sweepOnce(parts: Omit<SweepParts, 'onSweep'>, signal?: AbortSignal): Promise<Swept> {
  const { level, writes, stored } = parts;
  const idsAbout = (await level.approximateBytes()) / BYTES_PER_ID;
  await writes.alone(async () => stored.begin(idsAbout));
  let isComplete = false;
  try {
    const swept = await sweepChunks(parts, signal);
    isComplete = swept.isComplete;
    return { expired: swept.expired, unreadable: swept.unreadable };
  } finally {
    stored.end({ isComplete });
  }
}

async function sweepChunks(
  { level, writes, stored, clock, sleeper }: Omit<SweepParts, 'onSweep'>,
  signal?: AbortSignal,
): Promise<Swept & { isComplete: boolean }> {
  let expired = 0;
  let unreadable = 0;
  for (let after = FORMAT_KEY; !signal?.aborted;) {
    const chunk = await level.scan(after, CHUNK_KEYS);
    const dead: string[] = [];
    for (const [key, value] of chunk)
      if (stateOf(value, clock.now()) === 'live') stored.found(key);
      else dead.push(key);
    if (dead.length > 0) {
      const deleted = await writes.alone(() => deleteDead({ level, stored, clock }, dead));
      expired += deleted.expired;
      unreadable += deleted.unreadable;
    }
    if (chunk.length < CHUNK_KEYS) return { expired, unreadable, isComplete: true };
    after = chunk.at(-1)![0];
    await sleeper.sleep(PAUSE_MS, signal);
  }
  return { expired, unreadable, isComplete: false };
}

/**
 * Looks again before it deletes: an id may have been committed anew since the chunk was read, and no commit can land in here. Not
 * fsynced: a deletion that is lost is made again by the next pass.
 */
async function deleteDead(
  { level, stored, clock }: Pick<SweepParts, 'level' | 'stored' | 'clock'>,
  keys: readonly string[],
): Promise<Swept> {
  const values = await level.getMany(keys);
  const nowMs = clock.now();
  const states = values.map((value) => (value === undefined ? 'live' : stateOf(value, nowMs)));
  const dead = keys.filter((_, i) => states[i] !== 'live');
  // Committed anew, or alive again by a clock that was set back.
  for (const [i, key] of keys.entries()) if (states[i] === 'live') stored.found(key);
  await level.write(
    dead.map((key) => ({ type: 'del', key })),
    { sync: false },
  );
  const expired = states.filter((state) => state === 'expired').length;
  return { expired, unreadable: dead.length - expired };
}
