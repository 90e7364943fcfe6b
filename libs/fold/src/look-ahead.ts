import type { SeenOp } from '@tidemark/libs-op-store-contract';
import type { SeqRange, StoredMark, WatermarkState } from '@tidemark/libs-views-contract';
import { I64_MAX } from '@tidemark/libs-wire';
import { HoleJudge } from './hole-judge.ts';
import { runsOf } from './seq-ranges.ts';
import { PAGE_BYTES_MAX, type Step, type StepParts } from './step.ts';
import { cover, coverAll, topOf } from './watermark.ts';

export interface LookAheadOptions extends StepParts {
  /** Ranges ahead that a mark keeps. With so many nothing is folded ahead until some holes are closed. */
  readonly rangesMax: number;
  /** How long a hole is waited for that no proof closes, from its first sight on; 0: for ever. */
  readonly legacyGraceMs: number;
}

/** A part of the stream of which nothing is known yet. */
interface Region extends SeqRange {
  readonly isHole: boolean;
}

interface Looked {
  readonly ops: readonly SeenOp[];
  /** How far the look went: but for `ops` nothing is there. */
  readonly range: SeqRange;
}

/** Each costs a read and a judgement. */
const HOLES_PER_STEP = 16;
/** Text of what stands in a hole, or above it where the hole is empty. */
const HOLE_BYTES_MAX = 512 * 1024;

/**
 * Folds what is there although something is missing below it (FLD-2), and then has the holes judged:
 *
 *     look into some holes, and above all that is known ─▶ fold what is there ─▶ save the mark ─▶ judge what is missing (HoleJudge)
 *
 * What is there is saved before anything is judged, so a judgement that fails holds no op.
 */
export class LookAhead {
  readonly #options: LookAheadOptions;
  readonly #judge: HoleJudge;

  constructor(options: LookAheadOptions) {
    this.#options = options;
    this.#judge = new HoleJudge(options);
  }

  /** `holes` null: only what is above is looked at, and nothing is judged. */
  async step(stream: string, mark: StoredMark, holes: { readonly attempt: number } | null): Promise<Step> {
    const { saver, count } = this.#options;
    const regions = [...(holes === null ? [] : someHoles(mark.watermark, holes.attempt)), above(mark.watermark)];
    const lookedAtMs = this.#options.clock.now();
    const looks: Looked[] = [];
    const counted: (() => void)[] = [];
    let state = mark.watermark;
    for (const region of regions) {
      const looked = await this.#look(stream, region);
      looks.push(looked);
      const taken = this.#fitting(stream, state, looked.ops);
      if (taken.length === 0) continue;
      const counts = await this.#options.ops.fold(stream, mark.epoch, taken);
      state = coverAll(state, runsOf(taken.map(({ seq }) => seq)), this.#options.clock.now());
      counted.push(() => count.ops(counts));
      if (region.isHole) counted.push(this.#backfilled(stream, mark, taken));
    }
    const saved = state === mark.watermark ? mark : await saver.save(stream, mark, state);
    for (const tell of counted) tell();
    const ops = looks.reduce((sum, looked) => sum + looked.ops.length, 0);
    if (saved === null || holes === null) return { mark: saved, ops };
    const ranges = looks.map(({ range }) => range);
    return { mark: await this.#judge.judge(stream, saved, ranges, lookedAtMs), ops };
  }

  async #look(stream: string, { from, to, isHole }: Region): Promise<Looked> {
    const { opStore, pageOpsMax } = this.#options;
    const size = to - from + 1n;
    const limit = size < BigInt(pageOpsMax) ? Number(size) : pageOpsMax;
    const seen = await opStore.readAhead(stream, from - 1n, limit, isHole ? HOLE_BYTES_MAX : PAGE_BYTES_MAX);
    const last = seen.at(-1)?.seq ?? to;
    return { ops: seen.filter(({ seq }) => seq <= to), range: { from, to: last < to ? last : to } };
  }

  /** As many of the first as the mark has ranges for. */
  #fitting(stream: string, state: WatermarkState, ops: readonly SeenOp[]): readonly SeenOp[] {
    const { rangesMax, count, log } = this.#options;
    const runs = runsOf(ops.map(({ seq }) => seq));
    if (state.ahead.length + runs.length <= rangesMax) return ops;
    let through = 0n;
    let known = state;
    for (const run of runs) {
      const outcome = cover(known, run, 0, rangesMax);
      if (outcome.kind === 'at_bound') break;
      known = outcome.state;
      through = run.to;
    }
    const taken = ops.filter(({ seq }) => seq <= through);
    if (taken.length < ops.length) {
      count.bound();
      const fields = { stream, foldedThrough: String(state.foldedThrough), ranges: state.ahead.length };
      log.warn(fields, 'too many holes: nothing more is folded ahead until some are closed');
    }
    return taken;
  }

  #backfilled(stream: string, { epoch }: StoredMark, taken: readonly SeenOp[]): () => void {
    const [first, last] = [taken[0]!, taken.at(-1)!];
    const fields = { stream, epoch, from: String(first.seq), to: String(last.seq), ops: taken.length };
    this.#options.log.info(fields, 'backfilled: ops came that were missing below others');
    return () => this.#options.count.seqs('backfilled', BigInt(taken.length));
  }
}

/** The first hole, and others in turn. */
function someHoles({ holes, ahead }: WatermarkState, attempt: number): Region[] {
  const top = ahead.at(-1)?.to ?? 0n;
  const [first, ...others] = holes.filter(({ to }) => to < top).map(({ from, to }) => ({ from, to, isHole: true }));
  if (!first) return [];
  const n = HOLES_PER_STEP - 1;
  const start = others.length > n ? (attempt * n) % others.length : 0;
  return [first, ...others.slice(start, start + n)];
}

function above(state: WatermarkState): Region {
  return { from: topOf(state) + 1n, to: I64_MAX, isHole: false };
}
