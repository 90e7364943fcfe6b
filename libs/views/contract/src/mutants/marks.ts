import { MemoryViews } from '../memory-views.ts';
import { FIRST_EPOCH, type Revisions, type StoredMark } from '../views.ts';
import { NOTHING_FOLDED, type WatermarkState } from '../watermark-state.ts';
import type { Mutants, Opener } from './opener.ts';

type Saved = 'saved' | 'conflict';
type Save = Parameters<MemoryViews['saveMark']>;

class InventsMarks extends MemoryViews {
  override async mark(stream: string): Promise<StoredMark | null> {
    const invented = { watermark: NOTHING_FOLDED, epoch: FIRST_EPOCH, version: 0, revisions: new Map() };
    const isNew = !this.store.epochs.has(stream) && stream === '0.events' && this.store.rows.size === 0;
    return isNew && this.#looks++ === 0 && !this.#saves ? invented : super.mark(stream);
  }

  override async saveMark(...save: Save): Promise<Saved> {
    this.#saves = true;
    return super.saveMark(...save);
  }

  #looks = 0;
  #saves = false;
}

/** Changes what is saved on its way to the store. */
function saving(seen: (save: Save, stored: StoredMark | null) => Save): Opener {
  class Saving extends MemoryViews {
    override async saveMark(...save: Save): Promise<Saved> {
      return super.saveMark(...seen(save, this.epochs(save[0]).shown));
    }
  }
  return (store) => new Saving(store);
}

/** Loosens the compare of compare-and-set in the shown epoch: saves although the versions differ. */
function although(loose: (stored: number, expected: number) => boolean): Opener {
  return saving(([stream, epoch, watermark, expected, revisions], shown) => {
    const stored = shown?.version ?? 0;
    const isLoose = epoch === (shown?.epoch ?? FIRST_EPOCH) && loose(stored, expected);
    return [stream, epoch, watermark, isLoose ? stored : expected, revisions];
  });
}

function keeping(kept: (watermark: WatermarkState) => WatermarkState): Opener {
  return saving(([stream, epoch, watermark, ...rest]) => [stream, epoch, kept(watermark), ...rest]);
}

class WritesOnConflict extends MemoryViews {
  override async saveMark(...save: Save): Promise<Saved> {
    const outcome = await super.saveMark(...save);
    const [stream, epoch, watermark] = save;
    const epochs = this.epochs(stream);
    const isShown = epochs.shown?.epoch === epoch && epochs.shown.version > 1;
    if (outcome === 'conflict' && isShown && watermark.foldedThrough === 9n)
      this.store.epochs.set(stream, { ...epochs, shown: { ...epochs.shown!, watermark } });
    return outcome;
  }
}

class SkipsVersions extends MemoryViews {
  override async saveMark(...save: Save): Promise<Saved> {
    const outcome = await super.saveMark(...save);
    const epochs = this.epochs(save[0]);
    // Wrong from the second save on, so that the exactness of a first mark is not touched.
    if (outcome === 'saved' && epochs.build === null && epochs.shown!.version === 3)
      this.store.epochs.set(save[0], { ...epochs, shown: { ...epochs.shown!, version: 4 } });
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

  override async saveMark(...save: Save): Promise<Saved> {
    this.#seen.delete(save[0]);
    return super.saveMark(...save);
  }

  override async switchTo(stream: string, epoch: number): Promise<'switched' | 'conflict'> {
    this.#seen.delete(stream);
    return super.switchTo(stream, epoch);
  }
}

class FoldsCaseOfStreams extends MemoryViews {
  override async mark(stream: string): Promise<StoredMark | null> {
    return super.mark(stream.toLowerCase());
  }

  override async saveMark(stream: string, ...save: SaveRest): Promise<Saved> {
    const isListed = this.store.epochs.has('b');
    return super.saveMark(isListed || stream === 'B' ? stream : stream.toLowerCase(), ...save);
  }
}

type SaveRest = [number, WatermarkState, number, Revisions];

const doubles = (value: bigint) => BigInt(Number(value));

export const markMutants: Mutants = {
  inventsMarks: (store) => new InventsMarks(store),
  firstSaveAlwaysWins: although((stored, expected) => expected === 0 && stored === 1),
  acceptsOutdatedVersions: although((stored, expected) => stored > expected && expected > 0),
  savesWithoutAMark: although((stored) => stored === 0),
  opensAnyEpoch: saving(([stream, epoch, ...rest], shown) =>
    shown === null && rest[1] === 0 ? [stream, FIRST_EPOCH, ...rest] : [stream, epoch, ...rest],
  ),
  epochUnchecked: saving(([stream, epoch, ...rest], shown) =>
    shown !== null && epoch > shown.epoch && rest[1] === shown.version && rest[0].foldedThrough === 9n
      ? [stream, shown.epoch, ...rest]
      : [stream, epoch, ...rest],
  ),
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
  forgetsSkipped: keeping((watermark) => ({ ...watermark, skipped: watermark.skipped.slice(1) })),
  forgetsRevisions: saving(([stream, epoch, watermark, expected, revisions]) => {
    const kept = new Map(Object.entries(Object.fromEntries(revisions)).slice(0, 3));
    return [stream, epoch, watermark, expected, kept];
  }),
};
