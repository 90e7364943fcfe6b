import type { Change } from '../../dynamo/change-records.ts';
import { fnv1a32 } from '@tidemark/libs-wire';

/** Where an item stands in the table's key space: by the hash of its partition key, then by its sort key. */
export function pointOf(stream: string, seq: bigint): bigint {
  return (BigInt(fnv1a32(stream)) << 64n) + seq + (1n << 63n);
}

export const POINTS_END = 1n << 96n;

/** Of a table's key space; `to` is the first point that is not part of it. */
export interface PointRange {
  readonly from: bigint;
  readonly to: bigint;
}

export interface StreamRecord {
  readonly change: Change;
  readonly sequenceNumber: bigint;
  readonly streamedMs: number;
  deliveries: number;
}

/** The records of one part of the key space, in the order in which they came; those that are too old are gone from the front. */
export class Shard {
  readonly id: string;
  readonly parent: Shard | null;
  readonly range: PointRange;
  readonly startsWith: bigint;
  /** When lists begin to show it, and to show that it is closed. */
  readonly listedMs: number;
  closeListedMs = Infinity;
  closedMs = Infinity;
  /** Somebody was told that there is nothing more. */
  isFinished = false;
  lastReader: string | null = null;
  /** When each of its readers read last. */
  readonly readers = new Map<string, number>();
  /** Everything that ever came, for those who judge its readers. */
  readonly history: StreamRecord[] = [];
  readonly #records: StreamRecord[] = [];
  #trimmed = 0;
  #last: bigint;

  constructor(id: string, parent: Shard | null, range: PointRange, startsWith: bigint, listedMs: number) {
    this.id = id;
    this.parent = parent;
    this.range = range;
    this.startsWith = startsWith;
    this.listedMs = listedMs;
    this.#last = startsWith;
  }

  get isOpen(): boolean {
    return this.closedMs === Infinity;
  }

  /** Position of its oldest record, and the one behind its newest. */
  get begin(): number {
    return this.#trimmed;
  }

  get end(): number {
    return this.#trimmed + this.#records.length;
  }

  get lastSequenceNumber(): bigint {
    return this.#last;
  }

  add(record: StreamRecord): void {
    this.#records.push(record);
    this.history.push(record);
    this.#last = record.sequenceNumber;
  }

  from(position: number, max: number): readonly StreamRecord[] {
    return this.#records.slice(position - this.#trimmed, position - this.#trimmed + max);
  }

  /** Drops what was streamed before; answers how much of it nobody had read. */
  trim(beforeMs: number): number {
    let unread = 0;
    while ((this.#records[0]?.streamedMs ?? Infinity) < beforeMs) {
      if ((this.#records.shift() as StreamRecord).deliveries === 0) unread++;
      this.#trimmed++;
    }
    return unread;
  }

  /** Where the record stands; null when none of that number is kept. */
  positionOf(sequenceNumber: bigint): number | null {
    const index = this.#records.findIndex((record) => record.sequenceNumber === sequenceNumber);
    return index < 0 ? null : this.#trimmed + index;
  }

  /** Whether a number could have stood here once. */
  hasHeld(sequenceNumber: bigint): boolean {
    return sequenceNumber >= this.startsWith && sequenceNumber <= this.#last;
  }
}
