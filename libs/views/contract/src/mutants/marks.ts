import { MemoryViews } from '../memory-views.ts';
import type { StoredMark, WatermarkState } from '../views.ts';
import type { Opener } from './opener.ts';

class InventsMarks extends MemoryViews {
  override async mark(stream: string): Promise<StoredMark | null> {
    const nothing: WatermarkState = { foldedThrough: 0n, ahead: [], holes: [], floor: 0n };
    return (await super.mark(stream)) ?? { watermark: nothing, epoch: 1, version: 0 };
  }
}

/** Loosens the compare of compare-and-set: saves although the versions differ. */
function saving(although: (stored: number, expected: number) => boolean): Opener {
  class Saving extends MemoryViews {
    override async saveMark(stream: string, epoch: number, watermark: WatermarkState, expectedVersion: number) {
      const stored = this.store.marks.get(stream)?.version ?? 0;
      const version = although(stored, expectedVersion) ? stored : expectedVersion;
      return super.saveMark(stream, epoch, watermark, version);
    }
  }
  return (store) => new Saving(store);
}

class WritesOnConflict extends MemoryViews {
  override async saveMark(stream: string, epoch: number, watermark: WatermarkState, expectedVersion: number) {
    const outcome = await super.saveMark(stream, epoch, watermark, expectedVersion);
    const stored = this.store.marks.get(stream);
    if (outcome === 'conflict' && stored) this.store.marks.set(stream, { ...stored, epoch, watermark });
    return outcome;
  }
}

class SkipsVersions extends MemoryViews {
  override async saveMark(stream: string, epoch: number, watermark: WatermarkState, expectedVersion: number) {
    const outcome = await super.saveMark(stream, epoch, watermark, expectedVersion);
    const saved = this.store.marks.get(stream);
    // Wrong from the second save on, so that the exactness of a first mark is not touched.
    if (outcome === 'saved' && saved && saved.version > 1) {
      this.store.marks.set(stream, { ...saved, version: saved.version + 1 });
    }
    return outcome;
  }
}

class RemembersMarks extends MemoryViews {
  readonly #seen = new Map<string, StoredMark>();

  override async mark(stream: string): Promise<StoredMark | null> {
    const mark = this.#seen.get(stream) ?? (await super.mark(stream));
    if (mark) this.#seen.set(stream, mark);
    return mark;
  }

  override async saveMark(stream: string, epoch: number, watermark: WatermarkState, expectedVersion: number) {
    this.#seen.delete(stream);
    return super.saveMark(stream, epoch, watermark, expectedVersion);
  }
}

class FoldsCaseOfStreams extends MemoryViews {
  override async mark(stream: string): Promise<StoredMark | null> {
    return super.mark(stream.toLowerCase());
  }

  override async saveMark(stream: string, epoch: number, watermark: WatermarkState, expectedVersion: number) {
    return super.saveMark(stream.toLowerCase(), epoch, watermark, expectedVersion);
  }
}

/** Changes the state that a mark carries on its way to the store. */
function keeping(kept: (watermark: WatermarkState) => WatermarkState): Opener {
  class Keeping extends MemoryViews {
    override async saveMark(stream: string, epoch: number, watermark: WatermarkState, expectedVersion: number) {
      return super.saveMark(stream, epoch, kept(watermark), expectedVersion);
    }
  }
  return (store) => new Keeping(store);
}

const doubles = (value: bigint) => BigInt(Number(value));

export const markMutants: Readonly<Record<string, Opener>> = {
  inventsMarks: (store) => new InventsMarks(store),
  firstSaveAlwaysWins: saving((_stored, expected) => expected === 0),
  acceptsOutdatedVersions: saving((stored, expected) => stored > expected && expected > 0),
  savesWithoutAMark: saving((stored) => stored === 0),
  writesOnConflict: (store) => new WritesOnConflict(store),
  skipsVersions: (store) => new SkipsVersions(store),
  remembersMarks: (store) => new RemembersMarks(store),
  foldsCaseOfStreams: (store) => new FoldsCaseOfStreams(store),
  keepsSeqsAsDoubles: keeping((watermark) => ({
    ...watermark,
    foldedThrough: doubles(watermark.foldedThrough),
    ahead: watermark.ahead.map(({ from, to }) => ({ from: doubles(from), to: doubles(to) })),
  })),
  forgetsFirstSight: keeping((watermark) => ({
    ...watermark,
    holes: watermark.holes.map((hole) => ({ ...hole, firstSeenMs: hole.firstSeenMs % 1_000_000_000 })),
  })),
};
