import { IdFilter } from './id-filter.ts';

/**
 * Which ids are certainly not stored, known without a read: nearly every id that is reserved is new, and a read that finds nothing takes the
 * longer the more ids there are. A folder that is new is known from the start; any other one when the sweep has seen all of it, and
 * until then nothing is certain. Each pass of the sweep makes a new filter, without the ids that are gone.
 *
 * Whatever is written goes through `add` first, and `begin` never falls between the two: both happen only while no other write runs. So
 * an id that is written behind the back of a pass is in its filter all the same.
 */
export class StoredIds {
  #known: IdFilter | undefined;
  #next: IdFilter | undefined;

  constructor({ isEmpty }: { readonly isEmpty: boolean }) {
    if (isEmpty) this.#known = new IdFilter();
  }

  isAbsent(stored: string): boolean {
    return this.#known !== undefined && !this.#known.mayHave(stored);
  }

  /** Just before it is written, while no other write runs. */
  add(stored: string): void {
    this.#known?.add(stored);
    this.#next?.add(stored);
  }

  /** A pass of the sweep begins. While no write runs. */
  begin(idsAbout: number): void {
    this.#next = new IdFilter(idsAbout);
  }

  /** The pass found it stored. */
  found(stored: string): void {
    this.#next?.add(stored);
  }

  /** The pass has ended; one that did not see everything changes nothing. */
  end({ isComplete }: { readonly isComplete: boolean }): void {
    if (isComplete) this.#known = this.#next;
    this.#next = undefined;
  }
}
