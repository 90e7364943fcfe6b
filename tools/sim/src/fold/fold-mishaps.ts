import type { Scheduler } from '../scheduler/scheduler.ts';
import type { FoldHost } from './fold-host.ts';
import type { FoldPlan } from './fold-plan.ts';
import type { FoldWorld } from './fold-world.ts';
import type { WorkerAnomalies } from './fold-weather.ts';

const DOWN_MS: readonly [number, number] = [0, 4000];
const STILL_MS: readonly [number, number] = [1000, 12_000];
const HEARINGS_MAX = 60;

/** What happens to the workers and to the shards, at any moment, until it is told to stop. */
export class FoldMishaps {
  readonly anomalies: WorkerAnomalies;
  readonly #fold: FoldWorld;
  readonly #scheduler: Scheduler;
  #stopped = false;
  #round = 0;

  constructor(fold: FoldWorld, anomalies: WorkerAnomalies) {
    this.#fold = fold;
    this.#scheduler = fold.world.scheduler;
    this.anomalies = anomalies;
    this.#begin(fold.plan);
  }

  /** Nobody is there to whom anything could happen; the shards change slowly. */
  goOut(forMs: number): void {
    this.#round++;
    this.#again(forMs / 6, 'a shard changes', () => this.#reshape());
  }

  comeBack(): void {
    this.#round++;
    this.#begin(this.#fold.plan);
  }

  #begin({ crashMs, standStillMs, restartMs, reshapeMs, rebuildMs, streams }: FoldPlan): void {
    this.#again(crashMs, 'a worker is to die', () => this.#crash(this.#anyHost()));
    this.#again(standStillMs, 'a worker stands still', () => this.#standStill(this.#anyHost()));
    this.#again(restartMs, 'a worker is stopped', () => this.#restart(this.#anyHost()));
    this.#again(reshapeMs, 'a shard changes', () => this.#reshape());
    this.#again(rebuildMs, 'an operator rebuilds', () => this.#rebuild(this.#anyHost(), streams));
  }

  stop(): void {
    this.#stopped = true;
  }

  /** One worker after the other goes over to the revision. */
  upgrade(revision: number, betweenMs: readonly [number, number]): void {
    let atMs = 0;
    for (const host of this.#fold.hosts) {
      atMs += this.#scheduler.between(betweenMs);
      this.#scheduler.wake(atMs, `${host.name} gets revision ${revision}`, () => {
        this.anomalies.upgrade++;
        host.revision = revision;
        this.#restart(host);
      });
    }
  }

  #again(meanMs: number, label: string, happens: () => void): void {
    if (meanMs === Infinity) return;
    const round = this.#round;
    this.#scheduler.wake(this.#scheduler.between([0, 2 * meanMs]), label, () => {
      if (this.#stopped || round !== this.#round) return;
      happens();
      this.#again(meanMs, label, happens);
    });
  }

  #anyHost(): FoldHost {
    const { hosts } = this.#fold;
    return hosts[this.#scheduler.choices.pick(hosts.length)] as FoldHost;
  }

  /** Within its next few steps, and between any two of them. */
  #crash(host: FoldHost): void {
    const { process } = host;
    if (process === null || !process.alive) return;
    process.crashAfter(1 + this.#scheduler.choices.pick(HEARINGS_MAX), () => {
      this.anomalies.crash++;
      this.#scheduler.trace.add(this.#scheduler.nowMs, `${process.name} dies`);
      this.#later(host);
    });
  }

  #standStill({ process }: FoldHost): void {
    if (process === null || !process.alive) return;
    const ms = this.#scheduler.between(STILL_MS);
    if (ms > this.#fold.leaseMs) this.anomalies.pause++;
    process.pause(ms);
  }

  #restart(host: FoldHost): void {
    if (!host.isUp) return;
    host.stop(() => {
      this.anomalies.restart++;
      this.#later(host);
    });
  }

  #rebuild({ operator, isUp }: FoldHost, streams: readonly string[]): void {
    if (operator === null || !isUp) return;
    const stream = streams[this.#scheduler.choices.pick(streams.length)] as string;
    void operator.rebuild(stream).then(
      () => this.anomalies.rebuild++,
      () => {},
    );
  }

  #later(host: FoldHost): void {
    this.#scheduler.wake(this.#scheduler.between(DOWN_MS), `${host.name} starts`, () => {
      if (!this.#fold.isOut) host.start();
    });
  }

  #reshape(): void {
    const { choices } = this.#scheduler;
    const { streams, judge } = this.#fold;
    const { open } = streams.current;
    const shard = open[choices.pick(open.length)];
    if (shard === undefined) return;
    if (choices.pick(2) === 0 || open.length > SHARDS_MAX) return streams.current.roll(shard);
    const names = judge.streams;
    const stream = names[choices.pick(names.length)];
    if (stream === undefined) return;
    const seq = BigInt(choices.pick(Number(judge.head(stream)) + 2));
    for (const one of open) streams.current.split(one, stream, seq);
  }
}

const SHARDS_MAX = 5;
