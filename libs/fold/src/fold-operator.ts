import { type Clock, Fault } from '@tidemark/libs-kernel';
import type { OpStore } from '@tidemark/libs-op-store-contract';
import type { ParkedOp, Revisions, StoredMark, StreamMark, Views } from '@tidemark/libs-views-contract';
import type { FoldStatus, FoldWorker } from './fold-worker.ts';
import { OpFolder } from './op-folder.ts';
import { type Reducer, Reducers } from './reduce.ts';
import { type FoldLog, type FoldMetrics, NO_METRICS, SILENT_LOG } from './report.ts';
import { revisionsOf, standingOf } from './revisions.ts';
import { countOf } from './seq-ranges.ts';

export interface FoldOperatorOptions {
  /** The worker of this process, which is told of what there is to do. */
  readonly worker: Pick<FoldWorker, 'status' | 'look'>;
  readonly opStore: OpStore;
  readonly views: Views;
  /** Those of the worker. */
  readonly reducers: readonly Reducer[];
  readonly clock: Clock;
  readonly log?: FoldLog;
  readonly metrics?: FoldMetrics;
}

export interface OperatorStatus extends FoldStatus {
  /** Of the reducers of this process. */
  readonly revisions: Revisions;
}

/** A page; `next` is the `after` of the following one, null behind the last. It may be empty and not the last: each call looks at some streams. */
export interface Page<Item> {
  readonly streams: readonly Item[];
  readonly next: string | null;
}

export interface StreamStatus extends StreamMark {
  readonly head: bigint;
  /** Seqs up to the head that are neither folded nor proved to hold no op. */
  readonly lagOps: bigint;
  /** How long the oldest hole is missed; null: there is none. */
  readonly oldestHoleMs: number | null;
  /** The epoch that is built beside the shown one. */
  readonly build: StoredMark | null;
}

export type Retried = { readonly kind: 'folded' } | { readonly kind: 'parked'; readonly reason: string };

const MARKS_MAX = 100;

/**
 * What an operator can see of a fold and do to it. Everything but `status` is in the stores: any process may ask, and a worker that is
 * started later goes on with what was begun.
 */
export class FoldOperator {
  readonly #options: FoldOperatorOptions;
  readonly #log: FoldLog;
  readonly #metrics: FoldMetrics;
  readonly #revisions: Revisions;
  readonly #ops: OpFolder;

  constructor(options: FoldOperatorOptions) {
    this.#options = options;
    this.#log = options.log ?? SILENT_LOG;
    this.#metrics = options.metrics ?? NO_METRICS;
    this.#revisions = revisionsOf(options.reducers);
    this.#ops = new OpFolder({ ...options, reducers: new Reducers(options.reducers), log: this.#log });
  }

  /** Of the worker of this process. */
  status(): OperatorStatus {
    return { ...this.#options.worker.status(), revisions: this.#revisions };
  }

  /** Every stream that has a mark, in UTF-8 order. */
  async streams(after: string | null, limit: number): Promise<Page<StreamStatus>> {
    const { opStore, views } = this.#options;
    return this.#page(after, limit, async ({ stream, mark }) => {
      const head = await opStore.head(stream);
      const build = await views.build(stream);
      return { stream, mark, head, lagOps: lagOf(mark, head), oldestHoleMs: this.#oldestHoleMs(mark), build };
    });
  }

  /** Those whose mark has holes. */
  holes(after: string | null, limit: number): Promise<Page<StreamMark>> {
    return this.#page(after, limit, async (one) => (one.mark.watermark.holes.length > 0 ? one : null));
  }

  /** Of the shown epoch, by seq; none of a stream without a mark. */
  async parked(stream: string, after: bigint, limit: number): Promise<readonly ParkedOp[]> {
    const mark = await this.#options.views.mark(stream);
    return mark === null ? [] : this.#options.views.parked(stream, mark.epoch, after, limit);
  }

  /**
   * Folds a parked op with the reducers of this process. Its rows are stored before it is parked no more. Faults: `not_found`: it is not
   * parked; `conflict` where the view is of other reducers, older ones too: what they made and what ours make do not belong in one view.
   */
  async retry(stream: string, seq: bigint): Promise<Retried> {
    const { opStore, views, clock } = this.#options;
    const { epoch, revisions, parked } = await this.#parkedAt(stream, seq);
    if (standingOf(this.#revisions, revisions) !== 'same') throw ofOthers(stream);
    const attempts = parked.attempts + 1;
    const [seen] = await opStore.readAhead(stream, seq - 1n, 1);
    if (seen?.seq !== seq) {
      const reason = 'the op is not in the log any more';
      await views.park(stream, epoch, { ...parked, reason, parkedAtMs: clock.now(), attempts });
      return { kind: 'parked', reason };
    }
    const counts = await this.#ops.fold(stream, epoch, [seen], attempts);
    if (counts.parked > 0) {
      const again = await this.#parkedAt(stream, seq);
      return { kind: 'parked', reason: again.parked.reason };
    }
    await views.unpark(stream, epoch, seq);
    this.#log.info({ stream, epoch, seq: String(seq), attempts }, 'a parked op is folded');
    return { kind: 'folded' };
  }

  /** The op stays in the log, and is not folded in this epoch. Fault `not_found`: it is not parked. */
  async drop(stream: string, seq: bigint): Promise<void> {
    const { epoch, parked } = await this.#parkedAt(stream, seq);
    await this.#options.views.unpark(stream, epoch, seq);
    const fields = { stream, epoch, seq: String(seq), opId: parked.opId, reason: parked.reason };
    this.#log.warn(fields, 'a parked op is dropped: the view goes without it');
  }

  /**
   * Begins to fold the stream anew beside what readers see, and answers the epoch. Faults: `not_found` without a mark; `conflict` where an epoch is
   * built already, where ops were removed from the log, or where the view is of newer reducers.
   */
  async rebuild(stream: string): Promise<number> {
    const { opStore, views, worker } = this.#options;
    const mark = await views.mark(stream);
    const named = `stream ${JSON.stringify(stream)}`;
    if (mark === null) throw new Fault('not_found', `${named} has no mark`);
    const standing = standingOf(this.#revisions, mark.revisions);
    if (standing === 'older' || standing === 'mixed') throw ofOthers(stream);
    if ((await opStore.floor(stream)) > 0n)
      throw new Fault('conflict', `${named}: ops were removed from its log, so it cannot be folded anew`);
    const build = await views.startBuild(stream, this.#revisions);
    if (build === 'conflict') throw new Fault('conflict', `${named}: an epoch is built already`);
    this.#metrics.epoch('build');
    this.#log.warn({ stream, epoch: build.epoch }, 'a new epoch is built beside the shown one, as an operator asked');
    await worker.look(stream);
    return build.epoch;
  }

  /** Of a page of the streams that have a mark: begins those that can be, and are not built already. */
  async rebuildAll(after: string | null, limit: number): Promise<Page<string>> {
    return this.#page(after, limit, async ({ stream }) => ((await this.#begins(stream)) ? stream : null));
  }

  async #begins(stream: string): Promise<boolean> {
    try {
      await this.rebuild(stream);
      return true;
    } catch (thrown) {
      if (thrown instanceof Fault && (thrown.code === 'conflict' || thrown.code === 'not_found')) return false;
      throw thrown;
    }
  }

  async #parkedAt(
    stream: string,
    seq: bigint,
  ): Promise<Pick<StoredMark, 'epoch' | 'revisions'> & { parked: ParkedOp }> {
    const { views } = this.#options;
    const mark = await views.mark(stream);
    const [parked] = mark === null ? [] : await views.parked(stream, mark.epoch, seq - 1n, 1);
    if (mark === null || parked?.seq !== seq)
      throw new Fault('not_found', `stream ${JSON.stringify(stream)}: no op is parked at seq ${seq}`);
    return { epoch: mark.epoch, revisions: mark.revisions, parked };
  }

  async #page<Item>(
    after: string | null,
    limit: number,
    toItem: (mark: StreamMark) => Promise<Item | null>,
  ): Promise<Page<Item>> {
    const marks = await this.#options.views.marks(after, Math.min(limit, MARKS_MAX));
    const items: Item[] = [];
    for (const mark of marks) {
      const item = await toItem(mark);
      if (item !== null) items.push(item);
    }
    const isLast = marks.length < Math.min(limit, MARKS_MAX);
    return { streams: items, next: isLast ? null : (marks.at(-1)?.stream ?? null) };
  }

  #oldestHoleMs({ watermark: { holes } }: StoredMark): number | null {
    if (holes.length === 0) return null;
    return Math.max(0, this.#options.clock.now() - Math.min(...holes.map(({ firstSeenMs }) => firstSeenMs)));
  }
}

const ofOthers = (stream: string) =>
  new Fault('conflict', `stream ${JSON.stringify(stream)}: its view is of other reducers than those of this process`);

function lagOf({ watermark: { foldedThrough, ahead } }: StoredMark, head: bigint): bigint {
  const lag = head - foldedThrough - countOf(ahead);
  return lag > 0n ? lag : 0n;
}
