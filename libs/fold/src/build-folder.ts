import type { OpStore } from '@tidemark/libs-op-store-contract';
import type { Revisions, StoredMark, Views } from '@tidemark/libs-views-contract';
import type { EpochFolder } from './epoch-folder.ts';
import type { FoldLog, FoldMetrics } from './report.ts';
import { standingOf } from './revisions.ts';
import { knowsSeqs } from './watermark.ts';

export interface BuildFolderOptions {
  readonly opStore: OpStore;
  readonly views: Views;
  readonly epochs: EpochFolder;
  readonly revisions: Revisions;
  readonly log: FoldLog;
  readonly metrics: FoldMetrics;
  /** Called with what is shown from now on. */
  readonly switched: (stream: string, mark: StoredMark) => void;
}

/**
 * `none`: no epoch is built. `others`: one is, and for other reducers than ours. `refused`: none can be. `held`: it waits for a hole.
 * `switched`: it is shown now.
 */
export interface BuildEnd {
  readonly kind: 'none' | 'others' | 'refused' | 'more' | 'held' | 'switched';
  readonly ops: number;
}

const PAGES_PER_TURN = 4;

/**
 * Folds a stream anew into an epoch beside the shown one, from its first op on, and switches to it when it has everything that the shown one
 * has (FLD-7). Readers see the old epoch until then, and all of the new one from then on. Workers that build together share the build's mark, as
 * they share a shown one's; its reducers' revisions say who may work on it.
 */
export class BuildFolder {
  readonly #options: BuildFolderOptions;
  /** Streams whose build has a turn now; a second one beside it would do its work twice. */
  readonly #busy = new Set<string>();

  constructor(options: BuildFolderOptions) {
    this.#options = options;
  }

  /** A bounded part of the work. `begins`: where nothing is built yet, a build is begun. */
  async fold(stream: string, begins: boolean, signal?: AbortSignal): Promise<BuildEnd> {
    if (this.#busy.has(stream)) return { kind: 'more', ops: 0 };
    this.#busy.add(stream);
    try {
      return await this.#turn(stream, begins, signal);
    } finally {
      this.#busy.delete(stream);
    }
  }

  async #turn(stream: string, begins: boolean, signal: AbortSignal | undefined): Promise<BuildEnd> {
    const found = await this.#current(stream);
    if (found === 'others') return { kind: 'others', ops: 0 };
    if (found === null && !begins) return { kind: 'none', ops: 0 };
    const build = found ?? (await this.#begin(stream));
    if (build === 'refused') return { kind: 'refused', ops: 0 };
    if (build === 'conflict') return { kind: 'more', ops: 0 };
    return this.#advance(stream, build, signal);
  }

  /** A build for reducers that ours have outdated is given up. */
  async #current(stream: string): Promise<StoredMark | 'others' | null> {
    const { views, revisions, metrics } = this.#options;
    const build = await views.build(stream);
    const standing = build && standingOf(revisions, build.revisions);
    if (standing === null || standing === 'same') return build;
    if (standing !== 'newer') return 'others';
    await views.abandonBuild(stream, build!.epoch);
    metrics.epoch('abandoned');
    this.#tell(stream, build!, 'the epoch that was built is given up: its reducers are outdated');
    return null;
  }

  async #begin(stream: string): Promise<StoredMark | 'conflict' | 'refused'> {
    const { opStore, views, revisions, log, metrics } = this.#options;
    const floor = await opStore.floor(stream);
    if (floor > 0n) {
      const fields = { stream, floor: String(floor) };
      log.warn(fields, 'the stream cannot be folded anew: ops were removed from its log');
      return 'refused';
    }
    const build = await views.startBuild(stream, revisions);
    if (build === 'conflict') return 'conflict';
    metrics.epoch('build');
    this.#tell(stream, build, 'a new epoch is built beside the shown one');
    return build;
  }

  async #advance(stream: string, build: StoredMark, signal: AbortSignal | undefined): Promise<BuildEnd> {
    const { opStore, views, epochs } = this.#options;
    const head = await opStore.head(stream);
    const turn = { head, holes: { attempt: 0 }, pagesMax: PAGES_PER_TURN, signal };
    const { kind, mark, ops } = await epochs.advance(stream, build, turn);
    if (kind === 'left') return { kind: 'more', ops };
    const shown = await views.mark(stream);
    if (shown && !knowsSeqs(mark.watermark, shown.watermark)) return { kind: kind === 'more' ? 'more' : 'held', ops };
    if ((await views.switchTo(stream, mark.epoch)) === 'conflict') return { kind: 'more', ops };
    this.#options.metrics.epoch('switched');
    this.#tell(stream, mark, 'the new epoch is shown');
    this.#options.switched(stream, mark);
    return { kind: 'switched', ops };
  }

  #tell(stream: string, { epoch, watermark }: StoredMark, message: string): void {
    this.#options.log.info({ stream, epoch, foldedThrough: String(watermark.foldedThrough) }, message);
  }
}
