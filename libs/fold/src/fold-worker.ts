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
import { Backlog, type Task } from './backlog.ts';
import { MarkWatch, type Waited } from './mark-watch.ts';
import { type Reducer, Reducers } from './reduce.ts';
import { type FoldLog, type FoldMetrics, NO_METRICS, SILENT_LOG } from './report.ts';
import { StreamFolder } from './stream-folder.ts';

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
  /** Why the feed does not answer; null while it does. */
  readonly feedFault: Fault | null;
}

export interface StuckStream {
  readonly stream: string;
  readonly kind: 'held' | 'fault';
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
const PAGE_OPS_MAX = 500;
const RETRY: BackoffShape = { baseMs: 100, ceilingMs: 5000 };
/** An embedded store answers without leaving the event loop; after this long the worker leaves it. */
const BREATH_MS = 20;
const STUCK_SHOWN_MAX = 20;

/**
 * Follows the op log and keeps the views of its streams up to date:
 *
 *     feed.read ─▶ per stream: fold from its mark on (StreamFolder) ─▶ feed.checkpoint
 *
 * The feed is a doorbell: it may ring late, twice, in any order. Rows are stored first, their mark second, the position last (FLD-9), so
 * a crash anywhere leads to work done again, never to work left out. A stream that fails waits and is tried again, and holds back the
 * position but no other stream. Two workers on one stream do its work twice and agree on the mark (FLD-5).
 */
export class FoldWorker {
  readonly #options: FoldWorkerOptions;
  readonly #log: FoldLog;
  readonly #backlog = new Backlog(STREAMS_MAX);
  readonly #folder: StreamFolder;
  readonly #watch: MarkWatch;
  #breathedAtMs: number;
  #feedFault: Fault | null = null;
  /** Checkpointed last. */
  #position: string | null = null;

  constructor(options: FoldWorkerOptions) {
    const { opStore, views, reducers, clock, sleeper, log = SILENT_LOG, metrics = NO_METRICS } = options;
    const { tracer = untraced, pageOpsMax = PAGE_OPS_MAX } = options;
    this.#options = options;
    this.#log = log;
    this.#breathedAtMs = clock.monotonic();
    this.#watch = new MarkWatch({ views, sleeper });
    this.#folder = new StreamFolder({
      opStore,
      views,
      reducers: new Reducers(reducers),
      clock,
      log,
      metrics,
      tracer,
      pageOpsMax,
      saved: (stream, mark) => this.#watch.saved(stream, mark),
      breathe: () => this.#breathe(),
    });
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

  /** One look at the feed, one turn for each of some streams, one checkpoint. Faults are reported, not thrown. One tick at a time. */
  async tick(signal?: AbortSignal): Promise<TickResult> {
    const tally: Tally = { changes: 0, ops: 0, served: 0, stuck: 0 };
    const heard = await this.#guardFeed(() => this.#hear(tally, signal));
    const queue = [...this.#backlog.due(this.#options.clock.monotonic(), STREAMS_PER_TICK)];
    const lane = async () => {
      for (let task = queue.shift(); task && !signal?.aborted; task = queue.shift())
        await this.#turn(task, tally, signal);
    };
    await Promise.all(Array.from({ length: LANES }, lane));
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

  status(): FoldStatus {
    const stuck: StuckStream[] = [];
    let pending = 0;
    let lagOps = 0n;
    let heldOps = 0n;
    for (const { stream, head, attempt, trouble, foldedThrough } of this.#backlog.tasks()) {
      const unfolded = head > foldedThrough ? head - foldedThrough : 0n;
      pending++;
      lagOps += unfolded;
      if (trouble?.kind === 'held') heldOps += unfolded;
      if (trouble && stuck.length < STUCK_SHOWN_MAX) stuck.push({ stream, ...trouble, attempt });
    }
    return { pending, lagOps, heldOps, stuck, feedFault: this.#feedFault };
  }

  async #hear(tally: Tally, signal: AbortSignal | undefined): Promise<void> {
    const { feed, clock, sleeper } = this.#options;
    const waitMs = Math.min(FEED_WAIT_MS, this.#backlog.nextDueMs(clock.monotonic()));
    const changesMax = Math.min(CHANGES_MAX, this.#backlog.room);
    if (changesMax === 0) return sleeper.sleep(waitMs, signal);
    const batch = await feed.read(changesMax, waitMs, signal);
    tally.changes = batch.changes.length;
    this.#backlog.hear(batch, clock.monotonic());
  }

  async #turn(task: Task, tally: Tally, signal: AbortSignal | undefined) {
    try {
      const { kind, foldedThrough, ops } = await this.#folder.fold(task.stream, task.head, signal);
      task.foldedThrough = foldedThrough;
      tally.ops += ops;
      if (kind === 'held') this.#later(task, { kind, message: `the log shows nothing above ${foldedThrough} yet` });
      else if (kind === 'more') this.#backlog.again(task, this.#options.clock.monotonic(), null);
      else this.#backlog.served(task);
      tally[kind === 'held' ? 'stuck' : 'served'] += kind === 'more' ? 0 : 1;
    } catch (thrown) {
      tally.stuck++;
      this.#later(task, { kind: 'fault', message: asFault(thrown).message });
    }
  }

  #later(task: Task, trouble: NonNullable<Task['trouble']>): void {
    const { clock, random } = this.#options;
    const fields = { stream: task.stream, attempt: task.attempt, reason: trouble.message };
    if (trouble.kind === 'fault' || task.attempt === 0)
      this.#log.warn(fields, 'the stream is not folded on, and tried again');
    this.#backlog.again(task, clock.monotonic() + backoffMs(task.attempt, RETRY, random), trouble);
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
