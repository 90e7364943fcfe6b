import type { AppendOutcome, OpStore } from '@tidemark/libs-op-store-contract';
import { StreamWriter } from '@tidemark/libs-relay';
import type { Op } from '@tidemark/libs-wire';
import type { SimProcess } from '../scheduler/sim-process.ts';
import type { StoreSettings, World, Wrap } from '../world.ts';

const DEADLINE_MS = 20_000;

/** A relay process: the writer and the op store under test behind connections that a crash cuts. */
export class Relay {
  readonly name: string;
  readonly #world: World;
  readonly #settings: StoreSettings;
  readonly #wrap: Wrap | undefined;
  #lives = 0;
  #process: SimProcess;
  #store: OpStore;
  #writer: StreamWriter;
  #lost = new Set<() => void>();

  constructor(name: string, world: World, settings: StoreSettings, wrap?: Wrap) {
    this.name = name;
    this.#world = world;
    this.#settings = settings;
    this.#wrap = wrap;
    this.#process = world.process(name);
    this.#store = world.store(this.#process, settings, wrap);
    this.#writer = this.#newWriter();
  }

  get process(): SimProcess {
    return this.#process;
  }

  /** Whatever was in memory is gone; what was sent still arrives. Clients notice that their connection is cut. */
  crash(): void {
    this.#process.crash();
    for (const lose of this.#lost) lose();
    this.#lost = new Set();
  }

  restart(): void {
    this.#process = this.#world.process(`${this.name}.${++this.#lives}`);
    this.#store = this.#world.store(this.#process, this.#settings, this.#wrap);
    this.#writer = this.#newWriter();
  }

  /** Joins what waits for one stream, as the relay does. */
  push(stream: string, ops: readonly Op[]): Promise<readonly AppendOutcome[]> {
    return this.call(() => this.#writer.append(stream, ops, 1));
  }

  /** The store alone. */
  append(stream: string, ops: readonly Op[]): Promise<readonly AppendOutcome[]> {
    return this.call((store) => store.append(stream, ops));
  }

  /** Runs the work on the store; rejects when the relay is down, or goes down before it has answered. */
  call<T>(work: (store: OpStore) => Promise<T>): Promise<T> {
    if (!this.#process.alive) return Promise.reject(new Error(`${this.name} is down`));
    return new Promise((resolve, reject) => {
      const lose = () => reject(new Error(`the connection to ${this.name} was lost`));
      this.#lost.add(lose);
      const end =
        <V>(settle: (value: V) => void) =>
        (value: V) => {
          this.#lost.delete(lose);
          settle(value);
        };
      work(this.#store).then(end(resolve), end(reject));
    });
  }

  #newWriter(): StreamWriter {
    return new StreamWriter({
      opStore: this.#store,
      clock: this.#process,
      sleeper: this.#process,
      metrics: { round: () => {}, queued: () => {}, late: () => {} },
      deadlineMs: DEADLINE_MS,
      pushesMax: 1000,
      bytesMax: 1000,
    });
  }
}
