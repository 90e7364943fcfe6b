import { MemoryViews } from '../memory-views.ts';
import type { StreamMark } from '../views.ts';
import type { Mutants } from './opener.ts';

class ListsStreamsByUtf16 extends MemoryViews {
  override async marks(after: string | null, limit: number): Promise<readonly StreamMark[]> {
    const listed = await super.marks(after, limit);
    return listed.toSorted((a, b) => (a.stream < b.stream ? -1 : 1));
  }
}

class RepeatsTheStream extends MemoryViews {
  override async marks(after: string | null, limit: number): Promise<readonly StreamMark[]> {
    const page = await super.marks(after, limit);
    const shown = after === null || limit < 10 ? null : await this.mark(after);
    return shown ? [{ stream: after!, mark: shown }, ...page] : page;
  }
}

class IgnoresTheMarksLimit extends MemoryViews {
  override marks(after: string | null): Promise<readonly StreamMark[]> {
    return super.marks(after, Infinity);
  }
}

class ListsBuilds extends MemoryViews {
  override async marks(after: string | null, limit: number): Promise<readonly StreamMark[]> {
    const shown = await super.marks(after, limit);
    return shown.map(({ stream, mark }) => ({ stream, mark: this.epochs(stream).build ?? mark }));
  }
}

export const listingMutants: Mutants = {
  listsStreamsByUtf16: (store) => new ListsStreamsByUtf16(store),
  repeatsTheStream: (store) => new RepeatsTheStream(store),
  ignoresTheMarksLimit: (store) => new IgnoresTheMarksLimit(store),
  listsBuilds: (store) => new ListsBuilds(store),
};
