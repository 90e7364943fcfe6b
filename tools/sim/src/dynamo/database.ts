import { I64_MAX, I64_MIN } from '@tidemark/libs-wire';
import type { Item } from './item.ts';

/** Where an item stands: the partition key and the sort key of the ops table. */
export interface Place {
  readonly stream: string;
  readonly seq: bigint;
}

export interface Write extends Place {
  /** null removes the item. */
  readonly item: Item | null;
}

interface Version {
  readonly serial: number;
  readonly item: Item | null;
}

/** An item's versions in serial order; the one at `shown` is what a Query sees. The first stands for all that went before. */
interface Cell {
  readonly versions: Version[];
  shown: number;
}

/**
 * A write that was judged and has its place in the serial order, on its way through
 * showing (its items become visible one by one) -> complete (it holds no item any more) -> acknowledged.
 */
export interface Flight {
  readonly serial: number;
  readonly writes: readonly Write[];
  /** Every item that it wrote or checked. */
  readonly held: readonly Place[];
  readonly shown: Set<Write>;
  state: 'showing' | 'complete' | 'acknowledged';
}

/** A stream's cells, and their sort keys in order. */
interface Partition {
  readonly cells: Map<bigint, Cell>;
  readonly keys: bigint[];
}

/** Told of every write at the moment at which it takes its place in the serial order, or at which it is complete. */
export type FlightListener = (flight: Flight) => void;

/**
 * What a DynamoDB table promises, and nothing more: writes have one serial order, in which conditions are judged; when a Query sees which
 * of them is open until they are acknowledged. No time and no chance in here: whoever drives it decides what happens next.
 */
export class Database {
  #serial = 0;
  #settledSerial = 0;
  readonly #partitions = new Map<string, Partition>();
  /** Not yet acknowledged. */
  readonly #flights = new Set<Flight>();
  readonly #commitListeners: FlightListener[] = [];
  readonly #completeListeners: FlightListener[] = [];

  onCommit(listener: FlightListener): void {
    this.#commitListeners.push(listener);
  }

  /** From then on it holds no item any more. */
  onComplete(listener: FlightListener): void {
    this.#completeListeners.push(listener);
  }

  /** The item in serial order: what conditions are judged on. */
  latest({ stream, seq }: Place): Item | null {
    return this.#cell(stream, seq)?.versions.at(-1)?.item ?? null;
  }

  /** What a strong Query sees now. */
  visible({ stream, seq }: Place): Item | null {
    const cell = this.#cell(stream, seq);
    return cell?.versions[cell.shown]?.item ?? null;
  }

  /** The item after the given write of the serial order. */
  asOf({ stream, seq }: Place, serial: number): Item | null {
    const versions = this.#cell(stream, seq)?.versions ?? [];
    return versions.findLast((version) => version.serial <= serial)?.item ?? null;
  }

  /**
   * The snapshots that the places can be seen in, oldest first, without those that look the same: every beginning of the serial order that
   * holds all acknowledged writes.
   */
  snapshots(places: readonly Place[]): readonly number[] {
    const found = new Set([this.#settledSerial]);
    for (const { stream, seq } of places)
      for (const { serial } of this.#cell(stream, seq)?.versions ?? [])
        if (serial > this.#settledSerial) found.add(serial);
    return [...found].sort((a, b) => a - b);
  }

  /** Flights, not acknowledged yet, that wrote or checked one of the places. */
  touching(places: readonly Place[]): readonly Flight[] {
    if (this.#flights.size === 0) return [];
    const names = new Set(places.map(placeName));
    return [...this.#flights].filter(({ held }) => held.some((place) => names.has(placeName(place))));
  }

  /** Takes the next place of the serial order. Nothing is visible yet. */
  commit(writes: readonly Write[], checked: readonly Place[] = []): Flight {
    const serial = ++this.#serial;
    for (const { stream, seq, item } of writes) this.#cellFor(stream, seq).versions.push({ serial, item });
    const flight: Flight = { serial, writes, held: [...writes, ...checked], shown: new Set(), state: 'showing' };
    this.#flights.add(flight);
    for (const listener of this.#commitListeners) listener(flight);
    return flight;
  }

  /** One item of the flight becomes visible. A later version that is visible already stays. */
  show(flight: Flight, write: Write): void {
    flight.shown.add(write);
    const cell = this.#cellFor(write.stream, write.seq);
    const index = cell.versions.findIndex(({ serial }) => serial === flight.serial);
    cell.shown = Math.max(cell.shown, index);
  }

  complete(flight: Flight): void {
    for (const write of flight.writes) if (!flight.shown.has(write)) this.show(flight, write);
    flight.state = 'complete';
    for (const listener of this.#completeListeners) listener(flight);
  }

  /** From here on every read sees it. */
  acknowledge(flight: Flight): void {
    if (flight.state === 'showing') this.complete(flight);
    flight.state = 'acknowledged';
    this.#flights.delete(flight);
    this.#settledSerial = Math.max(this.#settledSerial, flight.serial);
    for (const { stream, seq } of flight.writes) this.#forget(this.#cellFor(stream, seq));
  }

  /** A write that is there at once, as one of an operator or of a time before the run. */
  put(stream: string, seq: bigint, item: Item | null): void {
    this.acknowledge(this.commit([{ stream, seq, item }]));
  }

  /** Sort keys from `low` to `high` of a stream that ever held an item, in order. */
  keys(stream: string, low = I64_MIN, high = I64_MAX): readonly bigint[] {
    const keys = this.#partitions.get(stream)?.keys ?? [];
    return keys.slice(firstFrom(keys, low), firstFrom(keys, high + 1n));
  }

  get streams(): readonly string[] {
    return [...this.#partitions.keys()].sort();
  }

  get flights(): ReadonlySet<Flight> {
    return this.#flights;
  }

  /** Equal only for equal states: what any future read or write can depend on. */
  fingerprint(itemText: (item: Item | null) => string): string {
    const parts: string[] = [];
    for (const stream of this.streams) {
      for (const seq of this.keys(stream)) {
        const { versions, shown } = this.#cell(stream, seq) as Cell;
        const rank = (serial: number) => (serial <= this.#settledSerial ? 0 : serial - this.#settledSerial);
        parts.push(
          `${stream}/${seq}@${shown}:${versions.map((v) => `${rank(v.serial)}${itemText(v.item)}`).join(';')}`,
        );
      }
    }
    for (const { serial, state, held, shown } of this.#flights)
      parts.push(
        `${serial - this.#settledSerial}${state}${held.map(placeName).join()}^${[...shown].map(placeName).join()}`,
      );
    return parts.join('\n');
  }

  #cell(stream: string, seq: bigint): Cell | undefined {
    return this.#partitions.get(stream)?.cells.get(seq);
  }

  #cellFor(stream: string, seq: bigint): Cell {
    let partition = this.#partitions.get(stream);
    if (partition === undefined)
      this.#partitions.set(stream, (partition = { cells: new Map<bigint, Cell>(), keys: [] }));
    let cell = partition.cells.get(seq);
    if (cell === undefined) {
      cell = { versions: [{ serial: 0, item: null }], shown: 0 };
      partition.cells.set(seq, cell);
      partition.keys.splice(firstFrom(partition.keys, seq), 0, seq);
    }
    return cell;
  }

  /** Versions that no snapshot can hold any more. */
  #forget(cell: Cell): void {
    const settled = cell.versions.findLastIndex(({ serial }) => serial <= this.#settledSerial);
    const gone = Math.min(settled, cell.shown);
    if (gone <= 0) return;
    cell.versions.splice(0, gone);
    cell.shown -= gone;
  }
}

/** Where the first key stands that is not below the given one. */
function firstFrom(keys: readonly bigint[], key: bigint): number {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((keys[middle] as bigint) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What of a flight no Query can see yet. */
export const unseenOf = ({ writes, shown, state }: Flight): readonly Write[] =>
  state === 'showing' ? writes.filter((write) => !shown.has(write)) : [];

export const placeName = ({ stream, seq }: Place) => `${stream}/${seq}`;
