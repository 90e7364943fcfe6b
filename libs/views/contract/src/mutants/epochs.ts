import { MemoryViews } from '../memory-views.ts';
import { type Document, FIRST_EPOCH, type ViewChange } from '../views.ts';
import type { Mutants } from './opener.ts';

class ShowsUnmarkedRows extends MemoryViews {
  protected override shownEpoch(stream: string): number | null {
    return super.shownEpoch(stream) ?? FIRST_EPOCH;
  }
}

class ReadsTheNewestRows extends MemoryViews {
  override async document(stream: string, kind: string, id: string): Promise<Document | null> {
    const { shown, build } = this.epochs(stream);
    const newest = shown && build ? this.documentOf(stream, build.epoch, kind, id) : null;
    return newest ?? super.document(stream, kind, id);
  }
}

class ListsEveryEpoch extends MemoryViews {
  override async documents(stream: string, kind: string, after: string | null, limit: number, bytesMax?: number) {
    const page = await super.documents(stream, kind, after, limit, bytesMax);
    const { build } = this.epochs(stream);
    const ids = build ? [...this.rows(stream, build.epoch, kind).keys()] : [];
    const later = ids.flatMap((id) => this.documentOf(stream, build!.epoch, kind, id) ?? []);
    return { ...page, documents: [...page.documents, ...later] };
  }
}

class CompetesAcrossEpochs extends MemoryViews {
  protected override write(stream: string, epoch: number, change: ViewChange): void {
    const older = this.rows(stream, epoch - 1, change.kind)
      .get(change.id)
      ?.get(change.field)
      ?.members.get('');
    const loses = older && change.effect === 'register' && older.version.lamport > change.version.lamport;
    super.write(stream, epoch, loses ? { ...change, ...older } : change);
  }
}

/** Other workers keep reading the epoch that they saw first. */
class SwitchesForItselfAlone extends MemoryViews {
  readonly #switched = new Set<string>();

  override async switchTo(stream: string, epoch: number): Promise<'switched' | 'conflict'> {
    this.#switched.add(stream);
    return super.switchTo(stream, epoch);
  }

  protected override shownEpoch(stream: string): number | null {
    const shown = super.shownEpoch(stream);
    return shown === null || this.#switched.has(stream) ? shown : FIRST_EPOCH;
  }
}

export const epochMutants: Mutants = {
  showsUnmarkedRows: (store) => new ShowsUnmarkedRows(store),
  readsTheNewestRows: (store) => new ReadsTheNewestRows(store),
  listsEveryEpoch: (store) => new ListsEveryEpoch(store),
  competesAcrossEpochs: (store) => new CompetesAcrossEpochs(store),
  switchesForItselfAlone: (store) => new SwitchesForItselfAlone(store),
};
