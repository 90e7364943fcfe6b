import type { Op } from '@tidemark/libs-wire';
import { RawTable } from '../actors/raw.ts';
import type { SimProcess } from '../scheduler/sim-process.ts';
import type { World } from '../world.ts';

/** Writers of the ADD era: each op's seq is taken first, and used a while later, whatever happened meanwhile. */
export class Straggler {
  done = false;
  readonly #world: World;
  readonly #process: SimProcess;
  readonly #table: RawTable;
  readonly #lateMs: readonly [number, number];

  constructor(name: string, world: World, stream: string, ops: readonly Op[], lateMs: readonly [number, number]) {
    this.#world = world;
    this.#process = world.process(name);
    this.#table = new RawTable(
      world.client(this.#process, (client) => client),
      stream,
    );
    this.#lateMs = lateMs;
    void this.#run(ops);
  }

  async #run(ops: readonly Op[]): Promise<void> {
    const { scheduler } = this.#world;
    for (const op of ops) {
      await this.#process.sleep(scheduler.between([100, 3000]));
      const seq = await this.#tried(() => this.#table.add());
      if (seq === null) continue;
      await this.#process.sleep(scheduler.between(this.#lateMs));
      await this.#tried(() => this.#table.put(seq, op));
    }
    this.done = true;
  }

  async #tried<T>(work: () => Promise<T>): Promise<T | null> {
    return work().catch(() => null);
  }
}

/** Takes seqs and uses none of them, as a writer that always dies in between. */
export class Burner {
  done = false;
  burned = 0;
  readonly #table: RawTable;
  readonly #process: SimProcess;
  readonly #world: World;

  constructor(name: string, world: World, stream: string, times: number, pauseMs: readonly [number, number]) {
    this.#world = world;
    this.#process = world.process(name);
    this.#table = new RawTable(
      world.client(this.#process, (client) => client),
      stream,
    );
    void this.#run(times, pauseMs);
  }

  async #run(times: number, pauseMs: readonly [number, number]): Promise<void> {
    for (let i = 0; i < times; i++) {
      await this.#process.sleep(this.#world.scheduler.between(pauseMs));
      await this.#table.add().then(
        () => this.burned++,
        () => {},
      );
    }
    this.done = true;
  }
}
