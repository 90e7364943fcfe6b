import { Pusher } from '../actors/clients.ts';
import type { Anomalies } from '../dynamo/anomalies.ts';
import { SeededChoices } from '../scheduler/choices.ts';
import { quiet } from '../scheduler/scheduler.ts';
import { FoldMishaps } from './fold-mishaps.ts';
import type { FoldCase, FoldPlan } from './fold-plan.ts';
import { type WorkerAnomalies, noWorkerAnomalies } from './fold-weather.ts';
import { type FoldMutant, FoldWorld } from './fold-world.ts';
import { randomOp } from './sim-ops.ts';
import { Burner, Straggler } from './stragglers.ts';
import type { StreamsAnomalies } from './streams/streams-weather.ts';

export interface FoldRun {
  readonly violations: readonly string[];
  readonly anomalies: FoldAnomalies;
  readonly steps: number;
  readonly virtualMs: number;
  readonly ops: number;
  /** Equal for two runs only when the same happened at the same times. */
  readonly hash: string;
  readonly trace: readonly string[];
}

export interface FoldAnomalies extends StreamsAnomalies, WorkerAnomalies {
  readonly dynamo: Anomalies;
}

export interface FoldRunOptions {
  readonly mutant?: FoldMutant;
  readonly traceLines?: number;
}

/** How long everything may take to come to its end when nothing goes wrong any more, and for how long it must stay so. */
const CALM_MS = 120_000;
const STAY_MS = 5000;
const STEPS_MAX = 400_000;
const NEWEST_REVISION = 1;

/** One run: a storm, then calm, in which every mark must reach its head and every view be what a full fold gives. */
export async function runFold(one: FoldCase, seed: number, options: FoldRunOptions = {}): Promise<FoldRun> {
  const choices = new SeededChoices(seed);
  const plan = one.plan(choices);
  const fold = new FoldWorld({ choices, seed, plan, ...options });
  const workers = noWorkerAnomalies();
  await untraced(() => new Run(fold, plan, workers).run());
  const { scheduler, dynamo, history } = fold.world;
  workers.late = fold.judge.late;
  return {
    violations: fold.violations,
    anomalies: { ...fold.streams.anomalies, ...workers, dynamo: dynamo.anomalies },
    steps: scheduler.steps,
    virtualMs: scheduler.nowMs,
    ops: plan.streams.reduce((sum, stream) => sum + history.opsOf(stream), 0),
    hash: scheduler.trace.hash,
    trace: scheduler.trace.lines(),
  };
}

/** Errors and aborts are everyday here, and nobody reads where they were made. */
async function untraced(work: () => Promise<void>): Promise<void> {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  await work().finally(() => (Error.stackTraceLimit = stackTraceLimit));
}

class Run {
  readonly #fold: FoldWorld;
  readonly #plan: FoldPlan;
  readonly #mishaps: FoldMishaps;
  readonly #writers: readonly { readonly done: boolean }[];
  readonly #burners: readonly Burner[];
  #isUpgraded = false;
  #stormEndMs: number;

  constructor(fold: FoldWorld, plan: FoldPlan, anomalies: WorkerAnomalies) {
    this.#fold = fold;
    this.#plan = plan;
    this.#stormEndMs = plan.stormMs;
    for (const host of fold.hosts) host.start();
    this.#mishaps = new FoldMishaps(fold, anomalies);
    this.#burners = plan.streams.map(
      (stream) => new Burner(`burner ${stream}`, fold.world, stream, plan.burned, [0, plan.stormMs / 2]),
    );
    this.#writers = [...this.#pushers(), ...this.#stragglers(), ...this.#burners];
  }

  async run(): Promise<void> {
    const { scheduler } = this.#fold.world;
    const { stormMs, upgraded, outageMs } = this.#plan;
    await quiet();
    if (upgraded) {
      scheduler.wake(stormMs / 4, 'a new revision comes', () => {
        this.#isUpgraded = true;
        this.#mishaps.upgrade(NEWEST_REVISION, [0, 5000]);
      });
    }
    if (outageMs !== null)
      scheduler.wake(scheduler.between([stormMs / 4, stormMs / 2]), 'all workers die', () => this.#goOut(outageMs));
    await this.#until(() => scheduler.nowMs > this.#stormEndMs && !this.#fold.isOut);
    this.#mishaps.stop();
    this.#fold.calmDown();
    // What is still on its way may arrive until late.
    for (let stayed = false; !stayed && this.#fold.violations.length === 0;) {
      await this.#until(() => this.#isDone(), CALM_MS);
      if (this.#fold.violations.length === 0 && !this.#isDone()) this.#fold.judge.wrong(`wedged: ${this.#why()}`);
      const endMs = scheduler.nowMs + STAY_MS;
      await this.#until(() => scheduler.nowMs >= endMs);
      stayed = this.#isDone();
    }
    if (this.#fold.violations.length === 0) await this.#fold.judge.finish(this.#isUpgraded ? NEWEST_REVISION : 0);
    this.#mishaps.anomalies.burned = this.#burners.reduce((sum, { burned }) => sum + burned, 0);
  }

  #pushers(): Pusher[] {
    const { world } = this.#fold;
    const { choices } = world.scheduler;
    const relays = ['relay 1', 'relay 2'].map((name) => world.relay(name, { maxOpsPerRound: 1 + choices.pick(6) }));
    return this.#plan.streams.map((stream, i) => {
      const traffic = { stream, relays, pauseMs: this.#plan.pauseMs, joined: true, repeats: true };
      const batches = (this.#plan.batches[i] as readonly number[]).map((size, at) =>
        Array.from({ length: size }, (_, n) => this.#op(`${stream}-${at}-${n}`)),
      );
      return new Pusher(`pusher ${stream}`, world, traffic, batches);
    });
  }

  #stragglers(): Straggler[] {
    const { stragglers, streams } = this.#plan;
    if (stragglers === null) return [];
    return Array.from({ length: stragglers.count }, (_, i) => {
      const stream = streams[i % streams.length] as string;
      const ops = Array.from({ length: 4 }, (_unused, n) => this.#op(`late-${i}-${n}`));
      return new Straggler(`straggler ${i + 1}`, this.#fold.world, stream, ops, stragglers.lateMs);
    });
  }

  #op(opId: string) {
    const { choices } = this.#fold.world.scheduler;
    const isPoison = choices.fraction() < this.#plan.poison;
    if (isPoison) this.#mishaps.anomalies.poison++;
    return randomOp(choices, opId, isPoison);
  }

  #goOut(outageMs: number): void {
    const { scheduler } = this.#fold.world;
    this.#fold.isOut = true;
    for (const host of this.#fold.hosts) host.crash();
    this.#mishaps.anomalies.outage++;
    this.#mishaps.goOut(outageMs);
    if (this.#plan.reenabled) {
      scheduler.happen(outageMs / 3, 'the stream is disabled', () => this.#fold.streams.disable());
      scheduler.happen(outageMs / 2, 'the stream is enabled again', () => this.#fold.streams.enable());
    }
    scheduler.wake(outageMs, 'workers start again', () => {
      this.#fold.isOut = false;
      this.#stormEndMs = scheduler.nowMs + this.#plan.stormMs / 2;
      this.#mishaps.comeBack();
      for (const host of this.#fold.hosts) host.start();
    });
  }

  #isDone(): boolean {
    return this.#why() === null;
  }

  #why(): string | null {
    const { judge } = this.#fold;
    if (!this.#writers.every(({ done }) => done)) return 'an op was never stored';
    const behind = judge.streams.find((stream) => judge.through(stream) < judge.head(stream));
    if (behind !== undefined) return `${behind} is never folded through its head ${judge.head(behind)}`;
    if (!this.#isUpgraded) return null;
    const old = judge.streams.find((stream) => judge.revisionOf(stream) !== NEWEST_REVISION);
    return old === undefined ? null : `${old} is never folded by the newest revision`;
  }

  /** Until then, or until something is wrong, or for so long. */
  async #until(reached: () => boolean, patienceMs = Infinity): Promise<void> {
    const { scheduler } = this.#fold.world;
    const endMs = scheduler.nowMs + patienceMs;
    while (!reached() && this.#fold.violations.length === 0 && scheduler.nowMs <= endMs) {
      if (scheduler.steps > STEPS_MAX) return this.#fold.judge.wrong('wedged: too many events');
      if (!(await this.#fold.step())) return;
    }
  }
}
