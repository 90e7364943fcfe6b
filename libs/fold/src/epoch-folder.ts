import { Fault, type Tracer } from '@tidemark/libs-kernel';
import type { ReadPage } from '@tidemark/libs-op-store-contract';
import type { SeqRange, StoredMark } from '@tidemark/libs-views-contract';
import { traceparentsOf } from '@tidemark/libs-wire';
import { LookAhead, type LookAheadOptions } from './look-ahead.ts';
import type { OpCounts } from './op-folder.ts';
import { countOf, runsOf, without } from './seq-ranges.ts';
import { PAGE_BYTES_MAX, type Step } from './step.ts';
import { coverAll, raiseFloor, unknownOf } from './watermark.ts';

export interface EpochFolderOptions extends LookAheadOptions {
  readonly tracer: Tracer;
  /** Called after each page; lets other work of the process go on. */
  readonly breathe: () => Promise<void>;
}

export interface Turn {
  /** Seq up to which something is known to be in the log. */
  readonly head: bigint;
  /** Whether holes are looked at in this turn, and how often in a row that brought nothing. */
  readonly holes: { readonly attempt: number } | null;
  readonly pagesMax: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * `through`: nothing is known above the mark. `more`: the turn's pages are used up. `held`: something is known above, and it can neither be
 * seen nor be proved never to come. `left`: the epoch is not shown and not built any more.
 */
export interface Advance {
  readonly kind: 'through' | 'more' | 'held' | 'left';
  readonly mark: StoredMark;
  readonly ops: number;
}

/**
 * Folds one epoch of one stream from its mark on, each step in this order:
 *
 *     read the log ─▶ reduce ─▶ apply the rows, park what cannot be folded ─▶ save the mark
 *
 * The log is the truth. As long as nothing is missing a step is a page, which crosses a missing seq only where it is proved burned, so
 * its end is the new prefix. Where no page can be had, a step looks ahead (LookAhead): what is there is folded and remembered as ranges, and
 * the prefix waits. A crash between two steps leaves rows above the mark, which are written again without effect.
 */
export class EpochFolder {
  readonly #options: EpochFolderOptions;
  readonly #ahead: LookAhead;

  constructor(options: EpochFolderOptions) {
    this.#options = options;
    this.#ahead = new LookAhead(options);
  }

  /** Throws what the stores throw; the next turn goes on at the mark that was saved last. */
  async advance(stream: string, from: StoredMark, turn: Turn): Promise<Advance> {
    const { breathe } = this.#options;
    let mark = from;
    let ops = 0;
    let hasMoved = false;
    for (let pages = 0; ; pages++) {
      const { foldedThrough } = mark.watermark;
      if (foldedThrough >= turn.head) return { kind: 'through', mark, ops };
      if (pages === turn.pagesMax || turn.signal?.aborted) return { kind: 'more', mark, ops };
      const step = await this.#step(stream, mark, pages === 0 || hasMoved ? turn.holes : null, hasMoved);
      if (step.mark === null) return { kind: 'left', mark, ops };
      if (step.mark === mark) return { kind: await this.#whyNothing(stream, mark), mark, ops };
      hasMoved = step.mark.watermark.foldedThrough > foldedThrough;
      mark = step.mark;
      ops += step.ops;
      await breathe();
    }
  }

  /** Below what is folded ahead a page is tried where the prefix has just moved: what closed one hole may have closed all. */
  async #step(stream: string, mark: StoredMark, holes: Turn['holes'], hasMoved: boolean): Promise<Step> {
    try {
      const page = mark.watermark.ahead.length === 0 || hasMoved ? await this.#page(stream, mark) : null;
      if (page !== null) return await this.#foldPage(stream, mark, page);
      return await this.#ahead.step(stream, mark, holes);
    } catch (thrown) {
      if (thrown instanceof Fault && thrown.code === 'conflict') return this.#raiseFloor(stream, mark, thrown);
      throw thrown;
    }
  }

  /** null: something is missing or cannot be read right above the prefix, or nothing is there. */
  async #page(stream: string, { watermark: { foldedThrough } }: StoredMark): Promise<ReadPage | null> {
    const { opStore, pageOpsMax } = this.#options;
    try {
      const page = await opStore.read(stream, foldedThrough, pageOpsMax, PAGE_BYTES_MAX);
      return page.next > foldedThrough ? page : null;
    } catch (thrown) {
      // Which op it is a look ahead tells, and parks it.
      if (thrown instanceof Fault && thrown.code === 'corrupt') return null;
      throw thrown;
    }
  }

  async #foldPage(stream: string, mark: StoredMark, page: ReadPage): Promise<Step> {
    const { clock, count, saver } = this.#options;
    const { watermark } = mark;
    const ops = unknownOf(watermark, page.ops);
    const counts = await this.#foldOps(stream, mark, ops);
    const range = { from: watermark.foldedThrough + 1n, to: page.next };
    const filled = runsOf(page.ops.map(({ seq }) => seq));
    const burned = without(without([range], filled), watermark.ahead);
    this.#tellBurned(stream, mark, burned);
    const saved = await saver.save(stream, mark, coverAll(watermark, [range], clock.now()));
    count.ops(counts);
    count.seqs('burned', countOf(burned));
    return { mark: saved, ops: ops.length };
  }

  #foldOps(stream: string, { epoch }: StoredMark, ops: ReadPage['ops']): Promise<OpCounts> {
    const traces = traceparentsOf(ops.map(({ op }) => op));
    return this.#options.tracer.span('fold', () => this.#options.ops.fold(stream, epoch, ops), traces);
  }

  #tellBurned(stream: string, { epoch }: StoredMark, burned: readonly SeqRange[]): void {
    const [first, last] = [burned[0], burned.at(-1)];
    if (!first || !last) return;
    const fields = { stream, epoch, from: String(first.from), to: String(last.to), seqs: String(countOf(burned)) };
    this.#options.log.info(fields, 'the mark passes burned seqs');
  }

  /** Ops were removed before they were folded: nothing can bring them back, so nothing is waited for. */
  async #raiseFloor(stream: string, mark: StoredMark, thrown: Fault): Promise<Step> {
    const { opStore, saver, count, log } = this.#options;
    const floor = await opStore.floor(stream);
    const { foldedThrough } = mark.watermark;
    if (floor <= foldedThrough) throw thrown;
    const fields = { stream, epoch: mark.epoch, foldedThrough: String(foldedThrough), floor: String(floor) };
    log.warn(fields, 'ops were removed from the log before they were folded: the view lacks them');
    const saved = await saver.save(stream, mark, raiseFloor(mark.watermark, floor));
    count.seqs('truncated', floor - foldedThrough);
    return { mark: saved, ops: 0 };
  }

  async #whyNothing(stream: string, { watermark }: StoredMark): Promise<'through' | 'held'> {
    if (watermark.ahead.length > 0) return 'held';
    return (await this.#options.opStore.head(stream)) > watermark.foldedThrough ? 'held' : 'through';
  }
}
