import type { Position, Round } from './append-round.ts';
import { Courtesy } from './courtesy.ts';

/**
 * What a process knows of the end of a stream, and what each round teaches it. Wrong knowledge costs a lost round, and nothing else.
 *
 * The highest seq that was ever seen, or only planned on, is kept whatever becomes of a round: a counter below it was lost or restored, so
 * that its next seqs may be occupied, or may have been read and passed already. Then the newest op is looked for again.
 */
export class StreamEnd {
  readonly courtesy = new Courtesy();
  /** The op of this stream that was answered last was stored before: the next push is most likely a piece of a repeat. */
  isRepeated = false;
  #counter: bigint | null = null;
  #seen = 0n;
  #isFloored = false;
  #flip: bigint | null = null;

  /** What the counter was last known to be; null: it has to be read. */
  get counter(): bigint | null {
    return this.#counter;
  }

  /** Whether the newest op was ever looked for. */
  get isFloored(): boolean {
    return this.#isFloored;
  }

  /** Whether the newest op has to be looked for before a round is planned: once, and whenever the counter is behind. */
  needsTop(counter: bigint): boolean {
    return !this.#isFloored || counter < this.#seen;
  }

  /** From where the next round is planned. `top`: the newest op, where it was needed. */
  plan(counter: bigint, top: bigint | null): Position {
    const base = top === null ? counter : max(counter, top);
    this.#counter = counter;
    this.#isFloored ||= top !== null;
    this.#seen = max(this.#seen, base);
    return { counter, base, flip: this.#flip };
  }

  stored({ base, ops }: Pick<Round, 'base' | 'ops'>): void {
    this.#counter = this.#seen = base + BigInt(ops.length);
    this.#flip = null;
  }

  /** Another writer moved the counter there. */
  moved(counter: bigint): void {
    this.#counter = counter;
    this.#flip = null;
  }

  /** One of the round's seqs is occupied; what is known of the counter stays. */
  taken(base: bigint): void {
    this.#seen = max(this.#seen, base + 1n);
    this.#flip = null;
  }

  /** The op at `base` is not as the check demanded: the other way round, then. It is proved for this seq alone. */
  gap(base: bigint): void {
    this.#flip = this.#flip === base ? null : base;
  }

  /** Whatever the round met, or became, says nothing of the counter. */
  forget(): void {
    this.#counter = null;
    this.#flip = null;
  }
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
