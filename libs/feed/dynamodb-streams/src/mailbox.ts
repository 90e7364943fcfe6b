import type { FeedBatch, FeedChange } from '@tidemark/libs-feed-contract';

/** What one call brought: the changes, and how far their source is read once their effects are stored. */
export interface Parcel<Source> {
  readonly source: Source;
  readonly changes: readonly FeedChange[];
  readonly progress: string;
}

interface Mark {
  readonly batch: number;
  readonly progress: string;
}

/** With more marks of a source that wait, every other one is forgotten: a checkpoint then moves a little less far. */
const MARKS_MAX = 1024;

/**
 * Parcels that were read and not handed out yet, and what of them a checkpoint may store: the progress of a source counts from the batch on
 * that holds the last of the changes before it (FLD-9).
 */
export class Mailbox<Source> {
  readonly #id: string;
  #parcels: Parcel<Source>[] = [];
  readonly #marks = new Map<Source, Mark[]>();
  #batch = 0;

  /** `id`: no two handles of a feed have the same; a position of another one means nothing here. */
  constructor(id: string) {
    this.#id = id;
  }

  /** Changes that wait. */
  get size(): number {
    return this.#parcels.reduce((sum, { changes }) => sum + changes.length, 0);
  }

  get isEmpty(): boolean {
    return this.#parcels.length === 0;
  }

  get hasChanges(): boolean {
    return this.#parcels.some(({ changes }) => changes.length > 0);
  }

  put(parcel: Parcel<Source>): void {
    this.#parcels.push(parcel);
  }

  /** The next batch, of at most `max` changes. */
  take(max: number): FeedBatch {
    const changes: FeedChange[] = [];
    this.#batch++;
    for (let parcel = this.#parcels[0]; parcel !== undefined; parcel = this.#parcels[0]) {
      const room = max - changes.length;
      changes.push(...parcel.changes.slice(0, room));
      if (parcel.changes.length > room) {
        this.#parcels[0] = { ...parcel, changes: parcel.changes.slice(room) };
        break;
      }
      this.#parcels.shift();
      this.#mark(parcel);
    }
    return { changes, position: `${this.#id}/${this.#batch}` };
  }

  /** Per source how far it may be checkpointed now; each is answered once. */
  reached(position: string): Map<Source, string> {
    const [id, digits = ''] = position.split('/');
    const batch = id === this.#id ? Number(digits) : 0;
    const reached = new Map<Source, string>();
    for (const [source, marks] of this.#marks) {
      const passed = marks.filter((mark) => mark.batch <= batch);
      const last = passed.at(-1);
      if (last === undefined) continue;
      reached.set(source, last.progress);
      if (passed.length === marks.length) this.#marks.delete(source);
      else this.#marks.set(source, marks.slice(passed.length));
    }
    return reached;
  }

  /** The source is somebody else's now: what it brought may still be handed out, and is no longer checkpointed here. */
  forget(source: Source): void {
    this.#marks.delete(source);
    this.#parcels = this.#parcels.filter((parcel) => parcel.source !== source || parcel.changes.length > 0);
  }

  #mark({ source, progress }: Parcel<Source>): void {
    const marks = this.#marks.get(source) ?? [];
    marks.push({ batch: this.#batch, progress });
    const kept = marks.length > MARKS_MAX ? marks.filter((_, i) => i % 2 === 1 || i === marks.length - 1) : marks;
    this.#marks.set(source, kept);
  }
}
