import type { Op } from '@tidemark/libs-wire';
import type { World } from '../world.ts';
import { RawTable } from './raw.ts';

export interface WriterRule {
  readonly opsPerRound: number;
  /** The op before the round must be there. */
  readonly check: boolean;
  /** When the newest op's seq is looked at, lest a counter that stands behind it is believed. */
  readonly floor: 'never' | 'first round' | 'every round';
  /** Whether an op that is stored already is answered from its claim alone, or once it can be read. */
  readonly existing: 'from the claim' | 'once visible';
}

export const soundWriter: WriterRule = { opsPerRound: 2, check: true, floor: 'every round', existing: 'once visible' };

/** Attempts after which a writer of a small case gives up, so that the case has an end. */
const ATTEMPTS_MAX = 3;

/** A writer that is short enough to be seen through: the counter before every round, and the ops after it in one transaction. */
export class SmallWriter {
  readonly #world: World;
  readonly #table: RawTable;
  readonly #stream: string;
  readonly #rule: WriterRule;
  #rounds = 0;

  constructor(world: World, name: string, stream: string, rule: Partial<WriterRule> = {}) {
    this.#world = world;
    this.#table = new RawTable(world.client(world.process(name)), stream);
    this.#stream = stream;
    this.#rule = { ...soundWriter, ...rule };
  }

  /** Whether every op was answered. */
  async push(ops: readonly Op[]): Promise<boolean> {
    for (let from = 0; from < ops.length; from += this.#rule.opsPerRound) {
      if (!(await this.#pushRound(ops.slice(from, from + this.#rule.opsPerRound)))) return false;
    }
    return true;
  }

  async #pushRound(ops: readonly Op[]): Promise<boolean> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const expected = await this.#table.counter();
      const base = this.#floors() ? largest(expected, await this.#table.top()) : expected;
      this.#rounds++;
      const end = await this.#table.round(ops, { expected, base, check: this.#rule.check });
      if (end === 'stored') {
        const outcomes = ops.map((_, i) => ({ kind: 'stored' as const, seq: base + BigInt(i) + 1n }));
        this.#world.history.answered(this.#stream, ops, outcomes);
        return true;
      }
      if (await this.#answerExisting(ops)) return true;
    }
    return false;
  }

  #floors(): boolean {
    return this.#rule.floor === 'every round' || (this.#rule.floor === 'first round' && this.#rounds === 0);
  }

  /** Small cases repeat whole rounds alone: all of its ops are stored, or none. */
  async #answerExisting(ops: readonly Op[]): Promise<boolean> {
    for (const op of ops) {
      const seq = await this.#table.claim(op.opId);
      if (seq === null) return false;
      if (this.#rule.existing === 'once visible' && !(await this.#sees(seq))) return false;
      this.#world.history.answered(this.#stream, [op], [{ kind: 'existing', seq }]);
    }
    return true;
  }

  async #sees(seq: bigint): Promise<boolean> {
    const [op] = await this.#table.above(seq - 1n);
    return op?.seq === seq;
  }
}

const largest = (a: bigint, b: bigint) => (a > b ? a : b);
