import type { Op } from '@tidemark/libs-wire';
import type { SimProcess } from '../scheduler/sim-process.ts';
import type { World } from '../world.ts';
import { RawTable } from './raw.ts';

/**
 * A relay of the make before transactions: takes a seq by ADD, then puts the op there. What it took and did not put stays a hole. It knows
 * no claims: an op whose put was not answered is pushed again, and may be stored twice.
 */
export class AddEraRelay {
  done = false;
  readonly #world: World;
  readonly #process: SimProcess;
  readonly #table: RawTable;
  readonly #stream: string;
  readonly #pauseMs: readonly [number, number];

  constructor(name: string, world: World, stream: string, ops: readonly Op[], pauseMs: readonly [number, number]) {
    this.#world = world;
    this.#process = world.process(name);
    this.#table = new RawTable(
      world.client(this.#process, (client) => client),
      stream,
    );
    this.#stream = stream;
    this.#pauseMs = pauseMs;
    void this.#run(ops);
  }

  async #run(ops: readonly Op[]): Promise<void> {
    for (const op of ops) {
      await this.#process.sleep(this.#world.scheduler.between(this.#pauseMs));
      while (!(await this.#append(op))) await this.#process.sleep(this.#world.scheduler.between(this.#pauseMs));
    }
    this.done = true;
  }

  async #append(op: Op): Promise<boolean> {
    try {
      const seq = await this.#table.add();
      await this.#process.sleep(this.#world.scheduler.between(this.#pauseMs));
      await this.#table.put(seq, op);
      this.#world.history.answered(this.#stream, [op], [{ kind: 'stored', seq }]);
      return true;
    } catch {
      return false;
    }
  }
}
