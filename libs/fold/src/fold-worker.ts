import type { Feed } from '@tidemark/libs-feed-contract';
import {
  type BackoffShape,
  type Clock,
  type Fault,
  type Random,
  type Sleeper,
  type Tracer,
  asFault,
  backoffMs,
  untraced,
} from '@tidemark/libs-kernel';
import type { OpStore } from '@tidemark/libs-op-store-contract';
import type { Views } from '@tidemark/libs-views-contract';
import { Backlog, type Task, type Trouble } from './backlog.ts';
import { Chores } from './chores.ts';
import { MarkWatch, type Waited } from './mark-watch.ts';
import { type Reducer, Reducers } from './reduce.ts';
import { type FoldLog, type FoldMetrics, NO_METRICS, SILENT_LOG } from './report.ts';
import { revisionsOf } from './revisions.ts';
import { aheadOps, StreamFolder } from './stream-folder.ts';
import { sweepOf } from './sweep.ts';
import { RANGES_MAX } from './watermark.ts';

export interface FoldWorkerOptions {
  readonly feed: Feed;
  readonly opStore: OpStore;
  readonly views: Views;
  readonly reducers: readonly Reducer[];
  readonly clock: Clock;
  readonly sleeper: Sleeper;
  readonly random: Random;
  readonly log?: FoldLog;
  readonly metrics?: FoldMetrics;
  readonly tracer?: Tracer;
  /** Ops read, folded and marked together. Default 500. */
  readonly pageOpsMax?: number;
  /** Ranges that a mark keeps above a hole; with so many, nothing more is folded ahead until some are closed. Default RANGES_MAX. */
  readonly rangesMax?: number;
  /**
   * For logs that writers of an older make still write, which take a seq first and store its op later: how long a missing seq is waited for,
   * from its first sight by any worker on. Longer than the slowest of those writers takes, and than clocks may differ. Default 0: for ever.
   */
  readonly legacyGraceMs?: number;
  /** How often every mark is compared with the head of its stream. Default 10 minutes; 0: never, where the feed does that. */
  readonly sweepMs?: number;
}

export interface TickResult {
  /** Changes that the feed gave, repeats counted. */
  readonly changes: number;
  /** Ops whose mark was saved in this tick. */
  readonly ops: number;
  /** Streams that are folded through every head that was heard of them. */
  readonly served: number;
  /** Streams whose turn brought nothing: a fault, or an op that the log does not show yet. */
  readonly stuck: number;
  /** The feed could not be read, or a position not be checkpointed. */
  readonly feedFault: Fault | null;
}

type Tally = { -readonly [Count in Exclude<keyof TickResult, 'feedFault'>]: TickResult[Count] };

export interface FoldStatus {
  /** Streams that have, or may have, unfolded ops. */
  readonly pending: number;
  /** The lag: ops known of and not folded. A stream that had no turn yet counts with all its ops. */
  readonly lagOps: bigint;
  /** Of these, the ones behind an op that the log does not show yet. */
  readonly heldOps: bigint;
  /** Streams whose last turn brought nothing, a few of them. */
  readonly stuck: readonly StuckStream[];
  /** How long ago the oldest doorbell rang that is not served; 0 when all are. */
  readonly oldestMs: number;
  /** Parts of work that no doorbell rings for: epochs that are built, rows of old ones to be removed, the sweep. */
  readonly chores: number;
  /** Why the feed does not answer; null while it does. */
  readonly feedFault: Fault | null;
}

export interface StuckStream {
  readonly stream: string;
  readonly kind: Trouble['kind'];
  readonly message: string;
  /** Turns in a row that brought nothing. */
  readonly attempt: number;
}

const CHANGES_MAX = 1000;
const FEED_WAIT_MS = 1000;
/** Streams heard of and not served; with these the feed is not read on. */
const STREAMS_MAX = 10_000;
const STREAMS_PER_TICK = 64;
/** Turns that run beside each other, so that one slow stream does not stop the others. */
const LANES = 4;
/** After so long no more turns begin in a tick: a feed whose reader is away for long takes it for stuck, and gives its leases to others. */
const TURNS_MS = 2000;
const PAGE_OPS_MAX = 500;
const RETRY: BackoffShape = { baseMs: 100, ceilingMs: 5000 };
/** An embedded store answers without leaving the event loop; after this long the worker leaves it. */
const BREATH_MS = 20;
const STUCK_SHOWN_MAX = 20;
const SWEEP_MS = 600_000;
/** A stream that is not folded for so long: half of the time that DynamoDB keeps a record of its change. */
const ALARM_MS = 12 * 3_600_000;
/** What is left of old epochs is removed by so many rows at a time. */
const DROPPED_ROWS_MAX = 500;

/**
 * Follows the op log and keeps the views of its streams up to date:
 *
 *     feed.read ─▶ per stream: fold from its mark on (StreamFolder) ─▶ feed.checkpoint
 *
 * The feed is a doorbell: it may ring late, twice, in any order. Rows are stored first, their mark second, the position last (FLD-9), so
 * a crash anywhere leads to work done again, never to work left out. A stream that fails waits and is tried again, and holds back the
 * position but no other stream. Two workers on one stream do its work twice and agree on the mark (FLD-5). Beside that it does chores, part by
 * part: epochs that are built, rows of old ones that are removed, and the sweep.
 */
export class FoldWorker {
  readonly #options: FoldWorkerOptions;
  readonly #log: FoldLog;
  readonly #backlog = new Backlog(STREAMS_MAX);
  readonly #folder: StreamFolder;
  readonly #watch: MarkWatch;
  readonly #chores: Chores;
  #breathedAtMs: number;
  #feedFault: Fault | null = null;
  /** Checkpointed last. */
  #position: string | null = null;

  constructor(options: FoldWorkerOptions) {
    const { views, reducers, clock, sleeper, log = SILENT_LOG, metrics = NO_METRICS, sweepMs = SWEEP_MS } = options;
    this.#options = options;
    this.#log = log;
    this.#breathedAtMs = clock.monotonic();
    this.#watch = new MarkWatch({ views, sleeper });
    this.#chores = new Chores({ ...options, log });
    const revisions = revisionsOf(reducers);
    this.#folder = new StreamFolder({
      pageOpsMax: PAGE_OPS_MAX,
      rangesMax: RANGES_MAX,
      legacyGraceMs: 0,
      tracer: untraced,
      ...options,
      reducers: new Reducers(reducers),
      revisions,
      log,
      metrics,
      saved: (stream, mark) => this.#watch.saved(stream, mark),
      building: (stream) => this.#chores.add(`build ${stream}`, (signal) => this.#build(stream, signal)),
      left: (stream) => this.#left(stream),
      breathe: () => this.#breathe(),
    });
    const left = (stream: string) => this.#left(stream);
    if (sweepMs > 0)
      this.#chores.add('sweep', sweepOf({ ...options, backlog: this.#backlog, revisions, sweepMs, left }));
  }

  /** Ticks until `signal` aborts; the page in work is finished. */
  async run(signal: AbortSignal): Promise<void> {
    let attempt = 0;
    while (!signal.aborted) {
      const { feedFault } = await this.tick(signal);
      attempt = feedFault ? attempt + 1 : 0;
      if (feedFault) await this.#options.sleeper.sleep(backoffMs(attempt, RETRY, this.#options.random), signal);
    }
  }

  /** One look at the feed, turns for some streams, one each, and one checkpoint. Faults are reported, not thrown. One tick at a time. */
  async tick(signal?: AbortSignal): Promise<TickResult> {
    const tally: Tally = { changes: 0, ops: 0, served: 0, stuck: 0 };
    const heard = await this.#guardFeed(() => this.#hear(tally, signal));
    const { clock } = this.#options;
    const beganAtMs = clock.monotonic();
    const queue = [...this.#backlog.due(beganAtMs, STREAMS_PER_TICK)];
    const lane = async () => {
      for (let task = queue.shift(); task && !signal?.aborted; task = queue.shift()) {
        await this.#turn(task, tally, signal);
        if (clock.monotonic() - beganAtMs >= TURNS_MS) return;
      }
    };
    await Promise.all([this.#chores.tick(signal), ...Array.from({ length: LANES }, lane)]);
    const checkpointed = await this.#guardFeed(() => this.#checkpoint());
    this.#feedFault = heard ?? checkpointed;
    return { ...tally, feedFault: this.#feedFault };
  }

  /**
   * Resolves when the stream's mark is at `seq`, whoever folds it, or after `waitMs`, or when `signal` aborts; with the mark as it is then
   * (FLD-8). Faults: those of the views, and `overloaded` while too many wait.
   */
  waitFor(stream: string, seq: bigint, waitMs: number, signal?: AbortSignal): Promise<Waited> {
    return this.#watch.waitFor(stream, seq, waitMs, signal);
  }

  /** Has a turn for the stream soon, as if a doorbell had rung: for who knows that something is to be done there. */
  async look(stream: string): Promise<void> {
    const { opStore, clock } = this.#options;
    this.#backlog.ring(stream, await opStore.head(stream), clock.monotonic());
    this.#chores.add(`build ${stream}`, (signal) => this.#build(stream, signal));
  }

  status(): FoldStatus {
    const nowMs = this.#options.clock.monotonic();
    let oldestMs = 0;
    const stuck: StuckStream[] = [];
    let pending = 0;
    let lagOps = 0n;
    let heldOps = 0n;
    for (const task of this.#backlog.tasks()) {
      const { stream, head, attempt, trouble, foldedThrough, aheadOps, heardAtMs } = task;
      const unfolded = head > foldedThrough + aheadOps ? head - foldedThrough - aheadOps : 0n;
      pending++;
      oldestMs = Math.max(oldestMs, nowMs - heardAtMs);
      lagOps += unfolded;
      if (trouble?.kind === 'held') heldOps += unfolded;
      if (trouble && stuck.length < STUCK_SHOWN_MAX) stuck.push({ stream, ...trouble, attempt });
    }
    const chores = this.#chores.size;
    return { pending, lagOps, heldOps, stuck, oldestMs, chores, feedFault: this.#feedFault };
  }

  async #hear(tally: Tally, signal: AbortSignal | undefined): Promise<void> {
    const { feed, clock, sleeper } = this.#options;
    const nowMs = clock.monotonic();
    const waitMs = Math.min(FEED_WAIT_MS, this.#backlog.nextDueMs(nowMs), this.#chores.nextDueMs(nowMs));
    const changesMax = Math.min(CHANGES_MAX, this.#backlog.room);
    if (changesMax === 0) return sleeper.sleep(waitMs, signal);
    const batch = await feed.read(changesMax, waitMs, signal);
    tally.changes = batch.changes.length;
    this.#backlog.hear(batch, clock.monotonic());
  }

  async #turn(task: Task, tally: Tally, signal: AbortSignal | undefined) {
    const nowMs = this.#options.clock.monotonic();
    const holes = task.retryAtMs <= nowMs ? { attempt: task.attempt } : null;
    const { stream, head } = task;
    try {
      const { kind, mark, ops, reason } = await this.#folder.fold(stream, { head, holes, signal });
      task.foldedThrough = mark.watermark.foldedThrough;
      task.aheadOps = aheadOps(mark);
      tally.ops += ops;
      // Something may have rung again meanwhile.
      if (kind === 'more' || (kind === 'served' && task.head > head))
        return this.#backlog.again(task, this.#options.clock.monotonic());
      tally[kind === 'served' ? 'served' : 'stuck']++;
      if (kind === 'served') this.#backlog.served(task);
      else if (holes === null) this.#backlog.waits(task);
      else this.#later(task, { kind, message: reason });
    } catch (thrown) {
      tally.stuck++;
      this.#later(task, { kind: 'fault', message: asFault(thrown).message });
    }
  }

  #later(task: Task, trouble: Trouble): void {
    const { clock, random } = this.#options;
    const nowMs = clock.monotonic();
    const fields = { stream: task.stream, attempt: task.attempt, reason: trouble.message };
    if (trouble.kind === 'fault' || (trouble.kind === 'held' && task.attempt === 0))
      this.#log.warn(fields, 'the stream is not folded on, and tried again');
    if (nowMs - task.heardAtMs >= ALARM_MS && !task.isAlarmed) {
      task.isAlarmed = true;
      this.#log.warn(fields, 'a stream is not folded for half a day: a feed forgets its change after a whole one');
    }
    this.#backlog.later(task, nowMs + backoffMs(task.attempt, RETRY, random), trouble);
  }

  async #build(stream: string, signal: AbortSignal | undefined): Promise<number | null> {
    const { kind } = await this.#folder.foldBuild(stream, signal);
    if (kind === 'held') return RETRY.ceilingMs;
    return kind === 'more' ? 0 : null;
  }

  #left(stream: string): void {
    this.#chores.add(`drop ${stream}`, () => this.#drop(stream));
  }

  async #drop(stream: string): Promise<number | null> {
    return (await this.#options.views.dropEpochs(stream, DROPPED_ROWS_MAX)) > 0 ? 0 : null;
  }

  async #checkpoint(): Promise<void> {
    const position = this.#backlog.servedPosition();
    if (position === null || position === this.#position) return;
    await this.#options.feed.checkpoint(position);
    this.#position = position;
  }

  async #guardFeed(work: () => Promise<void>): Promise<Fault | null> {
    try {
      await work();
      return null;
    } catch (thrown) {
      const fault = asFault(thrown);
      this.#log.warn({ reason: fault.message }, 'the feed does not answer, and is asked again');
      return fault;
    }
  }

  async #breathe(): Promise<void> {
    const { clock, sleeper } = this.#options;
    if (clock.monotonic() - this.#breathedAtMs < BREATH_MS) return;
    await sleeper.sleep(0);
    this.#breathedAtMs = clock.monotonic();
  }
}
