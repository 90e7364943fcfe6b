import type { StoredMark } from '@tidemark/libs-views-contract';

/** What is remembered of a stream between its turns. An outdated mark costs a conflict, nothing else. */
export interface RecentStream {
  mark: StoredMark;
  /** On the monotonic clock: when it is looked for an epoch that is built, and into what was skipped. */
  lookAtMs: number;
  looks: number;
}

/** The streams folded last, so that a busy stream's mark is not read for every doorbell. */
export class RecentStreams {
  readonly #max: number;
  readonly #streams = new Map<string, RecentStream>();

  constructor(max: number) {
    this.#max = max;
  }

  get(stream: string): RecentStream | undefined {
    return this.#streams.get(stream);
  }

  set(stream: string, recent: RecentStream): void {
    this.#streams.delete(stream);
    this.#streams.set(stream, recent);
    if (this.#streams.size > this.#max) this.#streams.delete(this.#streams.keys().next().value!);
  }

  forget(stream: string): void {
    this.#streams.delete(stream);
  }
}
