import type { Change } from '../../dynamo/change-records.ts';
import type { Scheduler } from '../../scheduler/scheduler.ts';
import { POINTS_END, type PointRange, Shard, pointOf } from './shard.ts';
import type { StreamsAnomalies, StreamsWeather } from './streams-weather.ts';

/** Sequence numbers go up by leaps, over powers of ten: who compares them as text is wrong before long. */
const FIRST_NUMBER = 99_999_999_999_999_999_990n;

/** The shards of one stream of the table, from when it is enabled until it is disabled: a lineage of them for each part of the key space. */
export class ShardTree {
  readonly arn: string;
  readonly label: string;
  shards: Shard[] = [];
  /** With those that are gone. */
  readonly ever = new Map<string, Shard>();
  readonly #scheduler: Scheduler;
  readonly #weather: StreamsWeather;
  readonly #anomalies: StreamsAnomalies;
  #made = 0;
  #number = FIRST_NUMBER;
  /** By relay stream: the highest seq that came. */
  readonly #highest = new Map<string, bigint>();

  constructor(arn: string, scheduler: Scheduler, weather: StreamsWeather, anomalies: StreamsAnomalies) {
    this.arn = arn;
    this.label = arn.split('/').at(-1) as string;
    this.#scheduler = scheduler;
    this.#weather = weather;
    this.#anomalies = anomalies;
    const width = POINTS_END / BigInt(weather.shards);
    for (let i = 0n; i < weather.shards; i++)
      this.#open(null, { from: i * width, to: i === BigInt(weather.shards) - 1n ? POINTS_END : (i + 1n) * width });
  }

  get open(): readonly Shard[] {
    return this.shards.filter(({ isOpen }) => isOpen);
  }

  add(change: Change): void {
    const { nowMs } = this.#scheduler;
    const point = pointOf(change.stream, change.seq);
    const shard = this.open.find(({ range }) => range.from <= point && point < range.to) as Shard;
    shard.add({ change, sequenceNumber: this.#nextNumber(), streamedMs: nowMs, deliveries: 0 });
    if (nowMs - change.committedMs >= 1000) this.#anomalies.delayed++;
    const highest = this.#highest.get(change.stream) ?? 0n;
    if (change.seq > 0n && change.seq < highest) this.#anomalies.reordered++;
    else if (change.seq > 0n) this.#highest.set(change.stream, change.seq);
  }

  /** A shard goes on as one child. */
  roll(shard: Shard): void {
    this.#close(shard);
    this.#open(shard, shard.range);
    this.#anomalies.rolled++;
  }

  /** A shard goes on as two children; the second begins with this item, if the shard holds its place. */
  split(shard: Shard, stream: string, seq: bigint): void {
    const at = pointOf(stream, seq);
    const { from, to } = shard.range;
    if (at <= from || at >= to) return;
    this.#close(shard);
    this.#open(shard, { from, to: at });
    this.#open(shard, { from: at, to });
    if (seq > 1n) this.#anomalies.split++;
  }

  closeAll(): void {
    for (const shard of this.open) this.#close(shard);
  }

  /** Drops what is too old, and shards of which nothing is left. */
  trim(): void {
    const { retentionMs, trimLagMs } = this.#weather;
    const beforeMs = this.#scheduler.nowMs - retentionMs - trimLagMs;
    for (const shard of this.shards) this.#anomalies.trimmed += shard.trim(beforeMs);
    this.shards = this.shards.filter(({ closedMs, begin, end }) => closedMs >= beforeMs || begin < end);
  }

  #open(parent: Shard | null, range: PointRange): void {
    const listedMs = parent === null ? 0 : this.#scheduler.nowMs + this.#scheduler.between(this.#weather.listMs);
    const id = `shardId-${String(++this.#made).padStart(8, '0')}-${this.label.slice(-4)}`;
    const shard = new Shard(id, parent, range, this.#nextNumber(), listedMs);
    this.shards.push(shard);
    this.ever.set(id, shard);
  }

  #close(shard: Shard): void {
    shard.closedMs = this.#scheduler.nowMs;
    shard.closeListedMs = shard.closedMs + this.#scheduler.between(this.#weather.listMs);
  }

  #nextNumber(): bigint {
    this.#number += BigInt(1 + this.#scheduler.choices.pick(9));
    return this.#number;
  }
}
