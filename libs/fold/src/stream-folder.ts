import { type Clock, Fault, type Tracer } from '@tidemark/libs-kernel';
import type { OpStore } from '@tidemark/libs-op-store-contract';
import { FIRST_EPOCH, type Revisions, type StoredMark, type Views } from '@tidemark/libs-views-contract';
import { type BuildEnd, BuildFolder } from './build-folder.ts';
import { EpochFolder } from './epoch-folder.ts';
import { MarkSaver } from './mark-saver.ts';
import { OpFolder } from './op-folder.ts';
import { type RecentStream, RecentStreams } from './recent-streams.ts';
import type { Reducers } from './reduce.ts';
import type { FoldLog, FoldMetrics } from './report.ts';
import { type Standing, standingOf } from './revisions.ts';
import { countOf } from './seq-ranges.ts';
import { SkippedWatch } from './skipped-watch.ts';
import type { StepCounts } from './step.ts';
import { emptyWatermark } from './watermark.ts';

export interface StreamFolderOptions {
  readonly opStore: OpStore;
  readonly views: Views;
  readonly reducers: Reducers;
  readonly revisions: Revisions;
  readonly clock: Clock;
  readonly log: FoldLog;
  readonly metrics: FoldMetrics;
  readonly tracer: Tracer;
  readonly pageOpsMax: number;
  readonly rangesMax: number;
  readonly legacyGraceMs: number;
  /** Called after each save of a shown mark, and after a switch. */
  readonly saved: (stream: string, mark: StoredMark) => void;
  /** Called when an epoch is built beside the shown one. */
  readonly building: (stream: string) => void;
  /** Called when rows of epochs that were left may be there. */
  readonly left: (stream: string) => void;
  /** Called after each page; lets other work of the process go on. */
  readonly breathe: () => Promise<void>;
}

export interface StreamTurn {
  readonly head: bigint;
  /** See Turn. */
  readonly holes: { readonly attempt: number } | null;
  readonly signal: AbortSignal | undefined;
}

/**
 * `served`: folded through the asked head. `more`: the turn's pages are used up. `held`: something is known above, and is not there yet.
 * `others`: reducers of other revisions than ours have to fold it.
 */
export interface TurnEnd {
  readonly kind: 'served' | 'more' | 'held' | 'others';
  readonly mark: StoredMark;
  readonly ops: number;
  readonly reason: string;
}

/** A long stream gives way to the others after this many pages. */
const PAGES_PER_TURN = 4;
const RECENT_MAX = 10_000;
/** How often a stream that is folded is looked at for what no doorbell tells: a build, and late ops. */
const LOOK_MS = 10_000;

/** Folds one stream: into the epoch that is shown where our reducers are those that folded it, or else into one that is built beside it. */
export class StreamFolder {
  readonly #options: StreamFolderOptions;
  readonly #recent = new RecentStreams(RECENT_MAX);
  readonly #shown: EpochFolder;
  readonly #builds: BuildFolder;
  readonly #skipped: SkippedWatch;
  /** Streams of which it was said that others have to fold them. */
  readonly #toldOthers = new Set<string>();

  constructor(options: StreamFolderOptions) {
    this.#options = options;
    const { metrics } = options;
    const parts = { ...options, ops: new OpFolder(options), saver: new MarkSaver(options), count: countsOf(metrics) };
    this.#shown = new EpochFolder(parts);
    this.#skipped = new SkippedWatch(parts);
    const building = {
      ...parts,
      saver: new MarkSaver({ ...options, saved() {} }),
      count: replaysOf(metrics),
    };
    const switched = (stream: string, mark: StoredMark) => {
      this.#recent.forget(stream);
      options.saved(stream, mark);
      options.left(stream);
    };
    this.#builds = new BuildFolder({ ...options, epochs: new EpochFolder(building), switched });
  }

  /** One turn. Throws what the stores throw; the next turn goes on at the mark that was saved last. */
  async fold(stream: string, turn: StreamTurn): Promise<TurnEnd> {
    const recent = this.#recent.get(stream) ?? (await this.#load(stream));
    const standing = this.#standingOf(recent.mark);
    if (standing === 'same') return this.#foldShown(stream, recent, turn);
    // Whoever else folds it moves its mark: it is read anew in each turn.
    this.#recent.forget(stream);
    const isServed = recent.mark.watermark.foldedThrough >= turn.head;
    const end = standing === 'newer' ? await this.#renew(stream, recent.mark, turn.signal) : null;
    if (end === null) return this.#leave(stream, recent.mark, standing, isServed);
    return isServed ? { ...end, kind: 'served' } : end;
  }

  /** Part of the work on an epoch for our reducers, which are newer than those of the shown one; null: it is not for us to do. */
  async #renew(stream: string, mark: StoredMark, signal: AbortSignal | undefined): Promise<TurnEnd | null> {
    const { kind, ops } = await this.#builds.fold(stream, true, signal);
    if (kind === 'others' || kind === 'refused') return null;
    // It goes on also when no doorbell rings any more.
    this.#options.building(stream);
    const reason = 'the epoch that is built for newer reducers waits for seqs that are missing';
    return { kind: kind === 'held' ? 'held' : 'more', mark, ops, reason };
  }

  /** A bounded part of the work on an epoch that is built; `none` when there is none. */
  foldBuild(stream: string, signal?: AbortSignal): Promise<BuildEnd> {
    return this.#builds.fold(stream, false, signal);
  }

  async #foldShown(stream: string, recent: RecentStream, { head, holes, signal }: StreamTurn): Promise<TurnEnd> {
    const turn = { head, holes, pagesMax: PAGES_PER_TURN, signal };
    const { kind, mark, ops } = await this.#shown.advance(stream, recent.mark, turn);
    recent.mark = mark;
    const looked = kind === 'left' ? null : await this.#look(stream, recent, head);
    if (looked === null) {
      this.#recent.forget(stream);
      return { kind: 'more', mark, ops, reason: '' };
    }
    this.#recent.set(stream, recent);
    const { foldedThrough } = recent.mark.watermark;
    const reason = `seq ${foldedThrough + 1n} is not there, and not proved never to come`;
    const ends = { through: 'served', held: 'held', more: 'more', left: 'more' } as const;
    return { kind: ends[kind], mark: recent.mark, ops: ops + looked, reason };
  }

  /** What no doorbell tells. How many late ops were folded; null: the epoch was left. */
  async #look(stream: string, recent: RecentStream, named: bigint): Promise<number | null> {
    const { clock, views, building } = this.#options;
    const nowMs = clock.monotonic();
    const isNamed = recent.mark.watermark.skipped.some(({ from, to }) => from <= named && named <= to);
    if (nowMs < recent.lookAtMs && !isNamed) return 0;
    recent.lookAtMs = nowMs + LOOK_MS;
    if ((await views.build(stream)) !== null) building(stream);
    if (recent.mark.watermark.skipped.length === 0) return 0;
    const { mark, ops } = await this.#skipped.step(stream, recent.mark, named, recent.looks++);
    if (mark === null) return null;
    recent.mark = mark;
    return ops;
  }

  async #load(stream: string): Promise<RecentStream> {
    const { views, left } = this.#options;
    const mark = (await views.mark(stream)) ?? (await this.#begin(stream));
    await this.#compareWithLog(stream, mark.watermark.foldedThrough);
    if (mark.epoch > FIRST_EPOCH) left(stream);
    return { mark, lookAtMs: -Infinity, looks: 0 };
  }

  #standingOf({ revisions }: StoredMark): Standing {
    return standingOf(this.#options.revisions, revisions);
  }

  #leave(stream: string, mark: StoredMark, standing: Standing, isServed: boolean): TurnEnd {
    const whose = {
      older: 'newer than those',
      mixed: 'partly newer than those',
      newer: 'older than those',
      same: 'those',
    };
    const reason = `its view is of reducers that are ${whose[standing]} of this worker`;
    if (!this.#toldOthers.has(stream)) {
      if (this.#toldOthers.size === RECENT_MAX) this.#toldOthers.clear();
      this.#toldOthers.add(stream);
      this.#options.log.warn({ stream, epoch: mark.epoch, standing }, `the stream is not folded here: ${reason}`);
    }
    return { kind: isServed ? 'served' : 'others', mark, ops: 0, reason };
  }

  /**
   * The mark of a stream that has none is stored before any row of it: of workers with different reducers one alone folds the first epoch,
   * and the others find that it is not theirs.
   */
  async #begin(stream: string): Promise<StoredMark> {
    const { opStore, views, revisions } = this.#options;
    const watermark = emptyWatermark();
    // A doorbell may have rung for a stream that is gone.
    if ((await opStore.head(stream)) === 0n) return { watermark, epoch: FIRST_EPOCH, version: 0, revisions };
    const saved = await views.saveMark(stream, FIRST_EPOCH, watermark, 0, revisions);
    if (saved === 'saved') return { watermark, epoch: FIRST_EPOCH, version: 1, revisions };
    const mark = await views.mark(stream);
    if (mark === null) throw new Fault('unavailable', `the mark of stream ${JSON.stringify(stream)} came and went`);
    return mark;
  }

  /** A log that ends below the mark was cut or replaced: what it takes up to the mark would pass unseen. Only an operator can tell. */
  async #compareWithLog(stream: string, foldedThrough: bigint): Promise<void> {
    if (foldedThrough === 0n) return;
    const head = await this.#options.opStore.head(stream);
    if (head >= foldedThrough) return;
    const fields = { stream, foldedThrough: String(foldedThrough), head: String(head) };
    this.#options.log.warn(fields, 'the log ends below the mark of its view: was the log replaced?');
  }
}

function countsOf(metrics: FoldMetrics): StepCounts {
  return {
    ops({ folded, not_folded, parked }) {
      metrics.ops('folded', folded);
      metrics.ops('not_folded', not_folded);
      metrics.ops('parked', parked);
    },
    seqs: (end, count) => void (count > 0n && metrics.seqs(end, Number(count))),
    bound: () => metrics.bound(),
  };
}

/** What a rebuild does again is not counted as done anew. */
function replaysOf(metrics: FoldMetrics): StepCounts {
  return {
    ...countsOf(metrics),
    ops: ({ folded, not_folded, parked }) => metrics.replayed(folded + not_folded + parked),
  };
}

/** Ops known to be folded although ops below them are not. */
export function aheadOps({ watermark }: StoredMark): bigint {
  return countOf(watermark.ahead);
}
