import type { StoredMark } from '@tidemark/libs-views-contract';

/** The marks used last, so that a busy stream's mark is not read for every doorbell. An outdated one costs a conflict, nothing else. */
export class RecentMarks {
  readonly #max: number;
  readonly #marks = new Map<string, StoredMark>();

  constructor(max: number) {
    this.#max = max;
  }

  get(stream: string): StoredMark | undefined {
    return this.#marks.get(stream);
  }

  set(stream: string, mark: StoredMark): void {
    this.#marks.delete(stream);
    this.#marks.set(stream, mark);
    if (this.#marks.size > this.#max) this.#marks.delete(this.#marks.keys().next().value!);
  }
}
