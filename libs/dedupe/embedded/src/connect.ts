import { type Deduplicator } from '@tidemark/libs-dedupe-contract';
import type { Clock, Random, Sleeper } from '@tidemark/libs-kernel';
import { EmbeddedDeduplicator } from './embedded-deduplicator.ts';
import { checkFormat } from './format.ts';
import { JoinedWrites } from './joined-writes.ts';
import { LevelFolder } from './level-folder.ts';
import { PendingClaims } from './pending-claims.ts';
import { StoredIds } from './stored-ids.ts';
import { type SweepReport, Sweeper } from './sweep.ts';

export interface EmbeddedDedupeOptions {
  /** A LevelDB folder of its own, made when it is absent. One process at a time; a second one is refused (`misconfigured`). */
  readonly folder: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly sleeper: Sleeper;
  /** Told what each pass of the sweep deleted, or why it stopped; the next pass comes anyway. */
  readonly onSweep?: (report: SweepReport) => void;
}

/**
 * Opens the store of one process: commits in LevelDB, claims in memory. A process that dies forgets its claims, which is every lease
 * lapsing at once; committed ids stay. All tenants share the folder.
 */
export async function connectEmbeddedDeduplicator(options: EmbeddedDedupeOptions): Promise<Deduplicator> {
  const { folder, clock, random, sleeper, onSweep = () => {} } = options;
  const level = await LevelFolder.open(folder);
  const isEmpty = await checkFormat(level).catch(async (fault: unknown) => {
    await level.close();
    throw fault;
  });
  const stored = new StoredIds({ isEmpty });
  const writes = new JoinedWrites(level, stored);
  const pending = new PendingClaims(clock, random);
  const sweeper = new Sweeper({ level, writes, stored, clock, sleeper, onSweep });
  return new EmbeddedDeduplicator({ level, writes, stored, pending, clock, sweeper });
}
