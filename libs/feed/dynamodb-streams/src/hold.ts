import { CensusReader } from './census-reader.ts';
import { segmentState } from './control.ts';
import { type LeaseRow, SHARD_END } from './lease-row.ts';
import { ShardReader } from './shard-reader.ts';

/** A lease of this worker's, with what reads under it. */
export class Hold {
  readonly reader: ShardReader | CensusReader;
  /** Aborted when the lease is over. */
  readonly stop = new AbortController();
  /** As it was stored last. */
  row: LeaseRow;
  /** Before the last write that is known to have succeeded was sent, on the steady clock. */
  confirmedAtMs: number;
  /** When a new checkpoint was stored last. */
  checkpointedAtMs = -Infinity;
  /** How far the effects are stored: what the row's checkpoint is to become. */
  safe: string;
  /** A shard whose parent turned up, and is not at its end. */
  isBlocked = false;
  isReading = false;
  #writes: Promise<void> = Promise.resolve();

  constructor(row: LeaseRow, reader: ShardReader | CensusReader, confirmedAtMs: number) {
    this.row = row;
    this.reader = reader;
    this.confirmedAtMs = confirmedAtMs;
    this.safe = row.checkpoint;
  }

  get isOver(): boolean {
    return this.stop.signal.aborted;
  }

  get isSegment(): boolean {
    return this.reader instanceof CensusReader;
  }

  /** The shard, when it was not there the last time it was read. */
  get missing(): ShardReader | null {
    return this.reader instanceof ShardReader && this.reader.isMissing ? this.reader : null;
  }

  get readAtMs(): number {
    return this.reader instanceof ShardReader ? this.reader.readAtMs : 0;
  }

  get isUnstored(): boolean {
    return this.safe !== this.row.checkpoint;
  }

  /** All of it is read, and its effects are stored. */
  get isEnded(): boolean {
    return this.isSegment
      ? segmentState({ ...this.row, checkpoint: this.safe }).after === 'end'
      : this.safe === SHARD_END;
  }

  /** One write of the row at a time. */
  write(work: () => Promise<void>): Promise<void> {
    const done = this.#writes.then(work);
    this.#writes = done.catch(() => {});
    return done;
  }
}
