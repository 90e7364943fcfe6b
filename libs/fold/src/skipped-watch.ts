import type { SeqRange, StoredMark } from '@tidemark/libs-views-contract';
import { runsOf } from './seq-ranges.ts';
import type { Step, StepParts } from './step.ts';
import { coverAll } from './watermark.ts';

/** Each costs a read. */
const RANGES_PER_STEP = 16;
const LATE_BYTES_MAX = 512 * 1024;

/**
 * Looks again where a grace passed seqs without proof. An op that came after all is folded, at once and late: whoever read the mark in between was
 * told too much. It is counted as `late`, which must reach a person (FLD-2), and its seq is watched no more.
 */
export class SkippedWatch {
  readonly #parts: StepParts;

  constructor(parts: StepParts) {
    this.#parts = parts;
  }

  /** Looks where an op was named, when one was, and at some others in turn. */
  async step(stream: string, mark: StoredMark, named: bigint, round: number): Promise<Step> {
    const { ops: folder, saver, count, clock, log } = this.#parts;
    let state = mark.watermark;
    let ops = 0;
    const counted: (() => void)[] = [];
    for (const range of someOf(state.skipped, named, round)) {
      const late = await this.#look(stream, range);
      if (late.length === 0) continue;
      const counts = await folder.fold(stream, mark.epoch, late);
      const runs = runsOf(late.map(({ seq }) => seq));
      for (const { from, to } of runs) {
        const fields = { stream, epoch: mark.epoch, from: String(from), to: String(to) };
        log.warn(fields, 'late: ops came after the grace had passed them, and are folded now');
      }
      counted.push(
        () => count.ops(counts),
        () => count.seqs('late', BigInt(late.length)),
      );
      state = coverAll(state, runs, clock.now());
      ops += late.length;
    }
    const saved = state === mark.watermark ? mark : await saver.save(stream, mark, state);
    for (const tell of counted) tell();
    return { mark: saved, ops };
  }

  async #look(stream: string, { from, to }: SeqRange) {
    const { opStore, pageOpsMax } = this.#parts;
    const size = to - from + 1n;
    const limit = size < BigInt(pageOpsMax) ? Number(size) : pageOpsMax;
    const seen = await opStore.readAhead(stream, from - 1n, limit, LATE_BYTES_MAX);
    return seen.filter(({ seq }) => seq <= to);
  }
}

function someOf(skipped: readonly SeqRange[], named: bigint, round: number): SeqRange[] {
  const start = skipped.length > RANGES_PER_STEP ? (round * RANGES_PER_STEP) % skipped.length : 0;
  const some = skipped.slice(start, start + RANGES_PER_STEP);
  const around = skipped.find(({ from, to }) => from <= named && named <= to);
  return around && !some.includes(around) ? [around, ...some] : some;
}
