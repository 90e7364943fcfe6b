import type { Hole, SeqRange, StoredMark, WatermarkState } from '@tidemark/libs-views-contract';
import type { FoldLog } from './report.ts';
import { countOf, holds, joined } from './seq-ranges.ts';
import type { StepParts } from './step.ts';
import { coverAll, sight, skip, topOf } from './watermark.ts';

export interface HoleJudgeOptions extends StepParts {
  /** 0: no hole is passed without proof. */
  readonly legacyGraceMs: number;
}

/**
 * Closes holes of which a look found nothing. By proof: no op is there and none ever will be. Without proof only where writers of an older
 * make are allowed for, which take a seq first and store its op later: then a hole is passed when it was missed for as long as the grace, counted
 * from its first sight by any worker, which is stored. What was passed so is `skipped`: it stays watched (FLD-2).
 */
export class HoleJudge {
  readonly #options: HoleJudgeOptions;

  constructor(options: HoleJudgeOptions) {
    this.#options = options;
  }

  /**
   * `looked`: where was looked just now, and what is missing was not found; `lookedAtMs`: when that began, on the wall clock. The answer is
   * null when the epoch was left.
   */
  async judge(
    stream: string,
    mark: StoredMark,
    looked: readonly SeqRange[],
    lookedAtMs: number,
  ): Promise<StoredMark | null> {
    const { saver, count } = this.#options;
    const proved = await this.#prove(stream, mark, looked);
    let state = coverAll(mark.watermark, proved, this.#options.clock.now());
    for (const range of proved) this.#tell('info', stream, mark, range, 'the mark passes burned seqs');
    const ripe = await this.#ripe(stream, state, looked, lookedAtMs);
    state = ripe.state;
    const forgotten: SeqRange[] = [];
    for (const range of ripe.ranges) {
      this.#tell(
        'warn',
        stream,
        mark,
        range,
        'skipped: the grace is over, the mark passes seqs that may still be filled',
      );
      const outcome = skip(state, range, this.#options.clock.now());
      state = outcome.state;
      forgotten.push(...outcome.forgotten);
    }
    for (const range of forgotten)
      this.#tell('warn', stream, mark, range, 'skipped seqs are not watched any more: there are too many');
    if (state === mark.watermark) return mark;
    const saved = await saver.save(stream, mark, state);
    count.seqs('burned', countOf(proved));
    count.seqs('skipped', countOf(ripe.ranges));
    count.seqs('forgotten', countOf(forgotten));
    return saved;
  }

  /** Of each hole the part that can be proved from its beginning on; of the end of the stream only while nothing is missing below it. */
  async #prove(stream: string, { watermark }: StoredMark, looked: readonly SeqRange[]): Promise<SeqRange[]> {
    const { opStore } = this.#options;
    const proved: SeqRange[] = [];
    const begins = looked.flatMap(({ from, to }) => {
      const hole = watermark.holes.find((one) => one.to >= from && one.from <= to);
      return hole ? [hole.from] : from > topOf(watermark) && watermark.ahead.length === 0 ? [from] : [];
    });
    for (const from of new Set(begins)) {
      const through = await opStore.burnedThrough(stream, from - 1n);
      if (through >= from) proved.push({ from, to: through });
    }
    return joined(proved);
  }

  /**
   * The holes that were missed for long enough before the look began: whatever came while a worker was paused behind it does not count as
   * missed. What is missing at the end of the stream is first seen when the head is known, and not before.
   */
  async #ripe(
    stream: string,
    state: WatermarkState,
    looked: readonly SeqRange[],
    lookedAtMs: number,
  ): Promise<{ readonly state: WatermarkState; readonly ranges: readonly Hole[] }> {
    const { opStore, clock, legacyGraceMs } = this.#options;
    if (legacyGraceMs <= 0) return { state, ranges: [] };
    const head = await opStore.head(stream);
    const sighted = sight(state, head, clock.now());
    const whole = joined(looked);
    const isRipe = (hole: Hole) => lookedAtMs - hole.firstSeenMs >= legacyGraceMs && holds(whole, hole);
    return { state: sighted, ranges: sighted.holes.filter(isRipe) };
  }

  #tell(level: keyof FoldLog, stream: string, { epoch }: StoredMark, { from, to }: SeqRange, message: string): void {
    this.#options.log[level]({ stream, epoch, from: String(from), to: String(to) }, message);
  }
}
