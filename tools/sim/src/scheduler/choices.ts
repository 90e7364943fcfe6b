import { SeededRandom } from '@tidemark/libs-kernel/testing';

/** Everything that is left to chance asks here, so that a run is told by its answers. */
export interface Choices {
  /** 0 to `options` - 1. */
  pick(options: number): number;
  /** Uniform in [0, 1). */
  fraction(): number;
}

/** Chance from a seed: the same seed, the same run. */
export class SeededChoices implements Choices {
  readonly #random: SeededRandom;

  constructor(seed: number) {
    this.#random = new SeededRandom(seed);
  }

  pick(options: number): number {
    return options <= 1 ? 0 : Math.floor(this.#random.fraction() * options);
  }

  fraction(): number {
    return this.#random.fraction();
  }
}

/** A path through the tree of all choices: follows the given answers, then takes the first option, and remembers how many there were. */
export class PathChoices implements Choices {
  readonly taken: number[] = [];
  readonly widths: number[] = [];
  readonly #given: readonly number[];

  constructor(given: readonly number[]) {
    this.#given = given;
  }

  pick(options: number): number {
    if (options <= 1) return 0;
    const choice = this.#given[this.taken.length] ?? 0;
    if (choice >= options)
      throw new Error(`the path asks for option ${choice} of ${options}: the run is not repeatable`);
    this.taken.push(choice);
    this.widths.push(options);
    return choice;
  }

  /** Magnitudes (delays, jitter) are no branches of the tree. */
  fraction(): number {
    return 0.5;
  }

  /** Whether every given answer was used: from here on the run is new. */
  get beyondGiven(): boolean {
    return this.taken.length >= this.#given.length;
  }
}
