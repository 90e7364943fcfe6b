import type { Feed } from '@tidemark/libs-feed-contract';
import { type FoldLog, FoldOperator, FoldWorker, type Reducer } from '@tidemark/libs-fold';
import type { OpStore } from '@tidemark/libs-op-store-contract';
import type { Views } from '@tidemark/libs-views-contract';
import type { SimProcess } from '../scheduler/sim-process.ts';

/** What a worker is made of; a mutant changes one of them. */
export interface WorkerParts {
  readonly feed: Feed;
  readonly opStore: OpStore;
  readonly views: Views;
  readonly reducers: readonly Reducer[];
  readonly legacyGraceMs: number;
  readonly sweepMs: number;
  readonly log: FoldLog;
}

export interface HostOptions {
  readonly name: string;
  /** A process with empty memory. */
  readonly newProcess: (name: string) => SimProcess;
  readonly newParts: (process: SimProcess, revision: number) => WorkerParts;
}

/** A machine that runs one worker after another. */
export class FoldHost {
  readonly name: string;
  process: SimProcess | null = null;
  revision = 0;
  operator: FoldOperator | null = null;
  readonly #options: HostOptions;
  #lives = 0;
  #stop = new AbortController();
  #parts: WorkerParts | null = null;
  #run: Promise<void> = Promise.resolve();

  constructor(options: HostOptions) {
    this.name = options.name;
    this.#options = options;
  }

  get isUp(): boolean {
    return this.process?.alive === true;
  }

  start(): void {
    if (this.isUp) return;
    const process = this.#options.newProcess(`${this.name}.${++this.#lives}`);
    const parts = this.#options.newParts(process, this.revision);
    this.process = process;
    this.#parts = parts;
    this.#stop = new AbortController();
    const around = { ...parts, clock: process, sleeper: process, random: process.random };
    const worker = new FoldWorker({ ...around, pageOpsMax: 5 });
    this.operator = new FoldOperator({ ...around, worker });
    this.#run = worker.run(this.#stop.signal);
  }

  /** Whatever was in memory is gone; what was sent still arrives. */
  crash(): void {
    this.process?.crash();
  }

  /** Ends its work and gives its leases back; `stopped` hears when it is done, unless it dies before. */
  stop(stopped: () => void): void {
    const [process, parts] = [this.process, this.#parts];
    if (process === null || parts === null || !process.alive) return stopped();
    this.#stop.abort();
    void this.#run
      .then(() => parts.feed.close())
      .catch(() => {})
      .then(() => {
        process.crash();
        stopped();
      });
  }
}
