import { Fault } from '@tidemark/libs-kernel';
import type { StoredMark, Views, WatermarkState } from '@tidemark/libs-views-contract';
import type { FoldMetrics } from './report.ts';
import { knows, union } from './watermark.ts';

export interface MarkSaverOptions {
  readonly views: Views;
  readonly metrics: FoldMetrics;
  /** Called after each save of a mark. */
  readonly saved: (stream: string, mark: StoredMark) => void;
}

/** Each lost race means that another worker advanced the mark; this many in a row is a stream that others fold well enough. */
const RACES_MAX = 20;

/** Stores marks by compare-and-set, so that workers that fold one stream together join what they know (FLD-5). */
export class MarkSaver {
  readonly #options: MarkSaverOptions;

  constructor(options: MarkSaverOptions) {
    this.#options = options;
  }

  /**
   * The stored mark once it knows what `watermark` does, which was folded on top of `mark`, at its epoch. When the stored mark moved on
   * meanwhile, both are joined. null: the epoch was left, or its mark was taken away, so what was folded belongs to rows that are not shown
   * and not built.
   */
  async save(stream: string, mark: StoredMark, watermark: WatermarkState): Promise<StoredMark | null> {
    const { views, metrics, saved } = this.#options;
    const { epoch, revisions } = mark;
    let next = watermark;
    let version = mark.version;
    for (let race = 0; race < RACES_MAX; race++) {
      if ((await views.saveMark(stream, epoch, next, version, revisions)) === 'saved') {
        const now = { watermark: next, epoch, version: version + 1, revisions };
        saved(stream, now);
        return now;
      }
      metrics.conflict();
      const stored = await this.#stored(stream, epoch);
      if (stored === null || stored.version < version) return null;
      if (knows(stored.watermark, watermark)) return stored;
      version = stored.version;
      next = union(next, stored.watermark);
    }
    throw new Fault('unavailable', `the mark of stream ${JSON.stringify(stream)} is saved by others all the time`);
  }

  async #stored(stream: string, epoch: number): Promise<StoredMark | null> {
    const { views } = this.#options;
    const shown = await views.mark(stream);
    if (shown?.epoch === epoch) return shown;
    const build = await views.build(stream);
    if (build?.epoch === epoch) return build;
    // Between the two looks the build may have become what is shown.
    const again = await views.mark(stream);
    return again?.epoch === epoch ? again : null;
  }
}
