import { type Clock, Fault, assert } from '@tidemark/libs-kernel';
import type { SeqRange, StoredMark, Views, WatermarkState } from '@tidemark/libs-views-contract';
import type { FoldMetrics } from './report.ts';
import { cover, emptyWatermark, isCovered, union } from './watermark.ts';

export interface MarkSaverOptions {
  readonly views: Views;
  readonly clock: Clock;
  readonly metrics: FoldMetrics;
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
   * The stored mark after `range` was folded on top of `mark`, at its epoch. When the stored mark moved on meanwhile, both are joined. When
   * it is of another epoch, or was taken away, what was folded belongs to rows that are not shown: then it is not covered, and the answer
   * is the mark to begin from again.
   */
  async save(stream: string, mark: StoredMark, range: SeqRange): Promise<StoredMark> {
    const { views, metrics, saved } = this.#options;
    let known = mark;
    let watermark = this.#covered(mark.watermark, range);
    for (let race = 0; race < RACES_MAX; race++) {
      if ((await views.saveMark(stream, mark.epoch, watermark, known.version)) === 'saved') {
        const next = { watermark, epoch: mark.epoch, version: known.version + 1 };
        saved(stream, next);
        return next;
      }
      metrics.conflict();
      const stored = await views.mark(stream);
      if (!stored) return { watermark: emptyWatermark(), epoch: mark.epoch, version: 0 };
      const isAnother = stored.epoch !== mark.epoch || stored.version < known.version;
      if (isAnother || isCovered(stored.watermark, range)) return stored;
      known = stored;
      watermark = union(watermark, stored.watermark);
    }
    throw new Fault('unavailable', `the mark of stream ${JSON.stringify(stream)} is saved by others all the time`);
  }

  #covered(watermark: WatermarkState, range: SeqRange): WatermarkState {
    const outcome = cover(watermark, range, this.#options.clock.now());
    assert(outcome.kind === 'covered', 'a range that begins at the prefix adds none ahead of it');
    return outcome.state;
  }
}
