import { MemoryViews } from '../memory-views.ts';
import type { Document, ViewChange } from '../views.ts';
import type { Opener } from './opener.ts';

class ShowsUnmarkedRows extends MemoryViews {
  protected override shownEpoch(stream: string): number | null {
    return super.shownEpoch(stream) ?? 1;
  }
}

class ReadsTheNewestRows extends MemoryViews {
  override async document(stream: string, kind: string, id: string): Promise<Document | null> {
    const shown = this.shownEpoch(stream);
    const fields = shown === null ? undefined : this.rows(stream, shown + 1, kind).get(id);
    return fields ? { kind, id, fields } : super.document(stream, kind, id);
  }
}

class ListsEveryEpoch extends MemoryViews {
  override async documents(stream: string, kind: string, after: string | null, limit: number, bytesMax?: number) {
    const page = await super.documents(stream, kind, after, limit, bytesMax);
    const later = [...this.rows(stream, 2, kind)].map(([id, fields]) => ({ kind, id, fields }));
    return { ...page, documents: [...page.documents, ...later] };
  }
}

class CompetesAcrossEpochs extends MemoryViews {
  protected override write(stream: string, epoch: number, change: ViewChange): void {
    const older = this.rows(stream, epoch - 1, change.kind)
      .get(change.id)
      ?.get(change.field);
    const loses = older && older.version.lamport > change.version.lamport;
    super.write(stream, epoch, loses ? { ...change, ...older } : change);
  }
}

export const epochMutants: Readonly<Record<string, Opener>> = {
  showsUnmarkedRows: (store) => new ShowsUnmarkedRows(store),
  readsTheNewestRows: (store) => new ReadsTheNewestRows(store),
  listsEveryEpoch: (store) => new ListsEveryEpoch(store),
  competesAcrossEpochs: (store) => new CompetesAcrossEpochs(store),
};
