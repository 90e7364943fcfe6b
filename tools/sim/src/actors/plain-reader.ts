import type { SimProcess } from '../scheduler/sim-process.ts';
import type { World } from '../world.ts';
import { RawTable } from './raw.ts';

/** A reader that is not aware of holes, as relays and scripts of another make: whatever a page shows is served, up to its last op. */
export class PlainReader {
  done = false;
  end: bigint | null = null;
  cursor = 0n;
  readonly #world: World;
  readonly #name: string;
  readonly #process: SimProcess;
  readonly #table: RawTable;
  readonly #stream: string;

  constructor(name: string, world: World, stream: string) {
    this.#world = world;
    this.#name = name;
    this.#process = world.process(name);
    this.#table = new RawTable(
      world.client(this.#process, (client) => client),
      stream,
    );
    this.#stream = stream;
    void this.#run();
  }

  async #run(): Promise<void> {
    const { history, scheduler } = this.#world;
    while (this.end === null || this.cursor < this.end) {
      const start = history.readBegins(this.#name, this.#stream, this.cursor);
      const ops = await this.#table.above(this.cursor).catch(() => []);
      this.cursor = ops.at(-1)?.seq ?? this.cursor;
      history.readEnds(start, { ops, next: this.cursor });
      await this.#process.sleep(scheduler.between([2, 80]));
    }
    this.done = true;
  }
}
