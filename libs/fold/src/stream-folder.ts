import { type Clock, type Tracer, unreachable } from '@tidemark/libs-kernel';
import type { OpStore, ReadPage, SequencedOp } from '@tidemark/libs-op-store-contract';
import type { StoredMark, ViewChange, Views } from '@tidemark/libs-views-contract';
import { opTraceparent, traceparentsOf } from '@tidemark/libs-wire';
import { MarkSaver } from './mark-saver.ts';
import { RecentMarks } from './recent-marks.ts';
import type { Reducers } from './reduce.ts';
import type { FoldLog, FoldMetrics } from './report.ts';
import { emptyWatermark } from './watermark.ts';

export interface StreamFolderOptions {
  readonly opStore: OpStore;
  readonly views: Views;
  readonly reducers: Reducers;
  readonly clock: Clock;
  readonly log: FoldLog;
  readonly metrics: FoldMetrics;
  readonly tracer: Tracer;
  readonly pageOpsMax: number;
  /** Called after each save of a mark. */
  readonly saved: (stream: string, mark: StoredMark) => void;
  /** Called after each page; lets other work of the process go on. */
  readonly breathe: () => Promise<void>;
}

/**
 * `served`: folded through the asked head. `more`: the turn's pages are used up. `held`: an op is known above, and the log does not show
 * it yet.
 */
export interface Turn {
  readonly kind: 'served' | 'more' | 'held';
  readonly foldedThrough: bigint;
  readonly ops: number;
}

/** Text of one page: with the lanes of a worker, what bounds the memory of a tick. */
const PAGE_BYTES_MAX = 4 * 1024 * 1024;
/** A long stream gives way to the others after this many pages. */
const PAGES_PER_TURN = 4;
const RECENT_MARKS_MAX = 10_000;
/** The generation that a stream without a mark is folded into. */
const FIRST_EPOCH = 1;

/**
 * Folds one stream from its mark on, page by page, in the log's order:
 *
 *     read above the mark ─▶ reduce ─▶ apply the rows ─▶ save the mark
 *
 * The log is the truth: a page never crosses a hole that is not proved burned, so its end is the new prefix. A crash between two steps
 * leaves rows above the mark, which are written again without effect.
 */
export class StreamFolder {
  readonly #options: StreamFolderOptions;
  readonly #marks = new RecentMarks(RECENT_MARKS_MAX);
  readonly #saver: MarkSaver;

  constructor(options: StreamFolderOptions) {
    this.#options = options;
    this.#saver = new MarkSaver(options);
  }

  /** One turn. Throws what the stores throw; the next turn goes on at the mark that was saved last. */
  async fold(stream: string, head: bigint, signal?: AbortSignal): Promise<Turn> {
    let mark = this.#marks.get(stream) ?? (await this.#load(stream));
    const { opStore, pageOpsMax, breathe } = this.#options;
    let ops = 0;
    for (let pages = 0; ; pages++) {
      const { foldedThrough } = mark.watermark;
      if (foldedThrough >= head) return { kind: 'served', foldedThrough, ops };
      if (pages === PAGES_PER_TURN || signal?.aborted) return { kind: 'more', foldedThrough, ops };
      const page = await opStore.read(stream, foldedThrough, pageOpsMax, PAGE_BYTES_MAX);
      if (page.next === foldedThrough)
        return { kind: await this.#whyNothing(stream, foldedThrough), foldedThrough, ops };
      mark = await this.#foldPage(stream, mark, page);
      ops += page.ops.length;
      await breathe();
    }
  }

  async #load(stream: string): Promise<StoredMark> {
    const stored = await this.#options.views.mark(stream);
    const mark = stored ?? { watermark: emptyWatermark(), epoch: FIRST_EPOCH, version: 0 };
    await this.#compareWithLog(stream, mark.watermark.foldedThrough);
    this.#marks.set(stream, mark);
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

  #foldPage(stream: string, mark: StoredMark, page: ReadPage): Promise<StoredMark> {
    const traces = traceparentsOf(page.ops.map(({ op }) => op));
    return this.#options.tracer.span('fold', () => this.#applyPage(stream, mark, page), traces);
  }

  async #applyPage(stream: string, mark: StoredMark, page: ReadPage): Promise<StoredMark> {
    const { views, metrics } = this.#options;
    const { changes, notFolded, refused } = this.#reduce(stream, page.ops);
    if (changes.length > 0) await views.apply(stream, mark.epoch, changes);
    const range = { from: mark.watermark.foldedThrough + 1n, to: page.next };
    const saved = await this.#saver.save(stream, mark, range);
    this.#marks.set(stream, saved);
    metrics.ops('folded', page.ops.length - notFolded - refused);
    metrics.ops('not_folded', notFolded);
    metrics.ops('refused', refused);
    return saved;
  }

  #reduce(stream: string, ops: readonly SequencedOp[]) {
    const changes: ViewChange[] = [];
    let notFolded = 0;
    let refused = 0;
    for (const sequenced of ops) {
      const reduced = this.#options.reducers.reduce(sequenced);
      switch (reduced.kind) {
        case 'folded':
          changes.push(...reduced.changes);
          break;
        case 'not_folded':
          notFolded++;
          break;
        case 'refused':
          refused++;
          this.#tellRefused(stream, sequenced, reduced.reason);
          break;
        default:
          unreachable(reduced);
      }
    }
    return { changes, notFolded, refused };
  }

  /** Before the mark passes the op, so that no refusal is silent. */
  #tellRefused(stream: string, { seq, op }: SequencedOp, reason: string): void {
    const fields = { stream, seq: String(seq), opId: op.opId, traceparent: opTraceparent(op) ?? undefined, reason };
    this.#options.log.warn(fields, 'refused: the op cannot be folded, its mark passes it');
  }

  /** The read showed nothing although a doorbell named an op above: it is on its way, or it is gone with its stream. */
  async #whyNothing(stream: string, foldedThrough: bigint): Promise<'served' | 'held'> {
    return (await this.#options.opStore.head(stream)) > foldedThrough ? 'held' : 'served';
  }
}
