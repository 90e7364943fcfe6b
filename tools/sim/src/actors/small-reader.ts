import type { SequencedOp } from '@tidemark/libs-op-store-contract';
import type { World } from '../world.ts';
import { RawTable, counterOf } from './raw.ts';

/**
 * What a reader asks about a missing seq h below an op w of its page, and takes for "burned". All but the last are wrong; they show that
 * the simulated database is weak enough to break them.
 */
export type HoleRule =
  /** Nothing: every op of the page is served. */
  | 'plain'
  /** GetItem of h: absent. */
  | 'get'
  /** The same, and then the counter: not below h. */
  | 'get-then-counter'
  /** The counter: not below h; and then GetItem of h: absent. */
  | 'counter-then-get'
  /** One snapshot of counter and h: h absent, whatever the counter says (a counter below h is taken for a lost one). */
  | 'snapshot-without-witness'
  /** A snapshot of h alone: absent. */
  | 'snapshot-alone'
  /** One snapshot of h and w: h absent and w present. */
  | 'witness';

/** A reader that is short enough to be seen through: one strong page after another from its cursor, holes by its rule. */
export class SmallReader {
  cursor = 0n;
  readonly #world: World;
  readonly #table: RawTable;
  readonly #name: string;
  readonly #stream: string;
  readonly #rule: HoleRule;

  constructor(world: World, name: string, stream: string, rule: HoleRule) {
    this.#world = world;
    this.#table = new RawTable(world.client(world.process(name)), stream);
    this.#name = name;
    this.#stream = stream;
    this.#rule = rule;
  }

  async read(times = 1): Promise<void> {
    for (let i = 0; i < times; i++) {
      const start = this.#world.history.readBegins(this.#name, this.#stream, this.cursor);
      const page = await this.#page();
      this.cursor = page.at(-1)?.seq ?? this.cursor;
      this.#world.history.readEnds(start, { ops: page, next: this.cursor });
    }
  }

  async #page(): Promise<SequencedOp[]> {
    const served: SequencedOp[] = [];
    let next = this.cursor + 1n;
    for (const op of await this.#table.above(this.cursor)) {
      for (; next < op.seq; next++) if (!(await this.#burned(next, op.seq))) return served;
      served.push(op);
      next = op.seq + 1n;
    }
    return served;
  }

  async #burned(hole: bigint, witness: bigint): Promise<boolean> {
    const table = this.#table;
    switch (this.#rule) {
      case 'plain':
        return true;
      case 'get':
        return (await table.get(hole)) === undefined;
      case 'get-then-counter':
        return (await table.get(hole)) === undefined && counterOf(await table.get(0n)) >= hole;
      case 'counter-then-get':
        return counterOf(await table.get(0n)) >= hole && (await table.get(hole)) === undefined;
      case 'snapshot-without-witness': {
        const seen = await table.snapshot([0n, hole]);
        return seen !== null && seen[1] === undefined;
      }
      case 'snapshot-alone': {
        const seen = await table.snapshot([hole]);
        return seen !== null && seen[0] === undefined;
      }
      case 'witness': {
        const seen = await table.snapshot([hole, witness]);
        return seen !== null && seen[0] === undefined && seen[1] !== undefined;
      }
    }
  }
}
