import type { SequencedOp } from '@tidemark/libs-op-store-contract';
import { AddEraRelay } from '../actors/add-era-relay.ts';
import { type MishapRates, Mishaps } from '../actors/mishaps.ts';
import { PlainReader } from '../actors/plain-reader.ts';
import { Puller, Pusher } from '../actors/clients.ts';
import type { Relay } from '../actors/relay.ts';
import { type Promises, allPromises } from '../checkers/history.ts';
import { type Anomalies } from '../dynamo/anomalies.ts';
import { type Weather, calm } from '../dynamo/weather.ts';
import type { Choices } from '../scheduler/choices.ts';
import { SeededChoices } from '../scheduler/choices.ts';
import { someOps } from '../some-op.ts';
import { type StoreSettings, World, type Wrap } from '../world.ts';

/** A long run of many actors, made from a seed. */
export interface RandomCase {
  readonly name: string;
  readonly about: string;
  readonly plan: (choices: Choices) => Plan;
}

export interface Plan {
  readonly weather: Weather;
  readonly store: StoreSettings;
  readonly promises: Promises;
  readonly mishaps: MishapRates;
  readonly relays: number;
  readonly joined: boolean;
  readonly repeats: boolean;
  readonly pageBytesMax: number;
  /** Of each pusher, its batches by their sizes. Pushers of one group push the same ops. */
  readonly pushers: readonly { readonly group: string; readonly batches: readonly number[] }[];
  readonly pauseMs: readonly [number, number];
  readonly pullLimits: readonly number[];
  readonly addEraOps: readonly number[];
  readonly plainReaders: number;
  /** Seqs that hold an op before the run, and the counter then. */
  readonly before: { readonly seqs: readonly bigint[]; readonly counter?: bigint };
  /** When the counter is lost, if it is. */
  readonly counterLostAtMs: number | null;
}

export interface RunResult {
  readonly name: string;
  readonly seed: number;
  readonly violations: readonly string[];
  readonly anomalies: Anomalies;
  readonly counts: ReadonlyMap<string, number>;
  readonly steps: number;
  readonly virtualMs: number;
  readonly ops: number;
  /** Equal for two runs only when the same happened at the same times. */
  readonly hash: string;
  readonly trace: readonly string[];
}

const STREAM = 's';
/** How long misfortunes last, and how long everything may take to come to its end without them. */
const STORM_MS = 20_000;
const CALM_MS = 120_000;
const STEPS_MAX = 2_000_000;

export async function runSeed(
  random: RandomCase,
  seed: number,
  { wrap, traceLines = 0 }: { wrap?: Wrap; traceLines?: number } = {},
): Promise<RunResult> {
  const choices = new SeededChoices(seed);
  const plan = random.plan(choices);
  const world = new World({
    choices,
    seed,
    ordering: 'timed',
    weather: plan.weather,
    promises: plan.promises,
    store: plan.store,
    traceLines,
    ...(wrap === undefined ? {} : { wrap }),
  });
  world.dynamo.pageBytesMax = plan.pageBytesMax;
  world.before(STREAM, plan.before.seqs, plan.before.counter);
  world.history.begin();
  await new Run(world, plan).run();
  const { scheduler, history, dynamo, counts } = world;
  return {
    name: random.name,
    seed,
    violations: history.violations,
    anomalies: dynamo.anomalies,
    counts,
    steps: scheduler.steps,
    virtualMs: scheduler.nowMs,
    ops: history.opsOf(STREAM),
    hash: scheduler.trace.hash,
    trace: scheduler.trace.lines(),
  };
}

/** A storm, then calm: everything that was asked must come to its end, and be right. */
class Run {
  readonly #world: World;
  readonly #plan: Plan;
  readonly #relays: readonly Relay[];
  readonly #mishaps: Mishaps;
  readonly #writers: readonly { readonly done: boolean }[];
  readonly #readers: readonly (Puller | PlainReader)[];

  constructor(world: World, plan: Plan) {
    this.#world = world;
    this.#plan = plan;
    const { relays, joined, repeats, pauseMs } = plan;
    this.#relays = Array.from({ length: relays }, (_, i) => world.relay(`relay ${i + 1}`));
    this.#mishaps = new Mishaps(world, this.#relays, plan.mishaps);
    const traffic = { stream: STREAM, relays: this.#relays, pauseMs, joined, repeats };
    const pushers = plan.pushers.map(({ group, batches }, i) => {
      const ops = batches.map((size, at) => someOps(`${group}.${at}.`, size));
      return new Pusher(`pusher ${i + 1}`, world, traffic, ops);
    });
    const addEra = plan.addEraOps.map(
      (n, i) => new AddEraRelay(`add-era relay ${i + 1}`, world, STREAM, someOps(`add${i}.`, n), pauseMs),
    );
    this.#writers = [...pushers, ...addEra];
    this.#readers = [
      ...plan.pullLimits.map((limit, i) => new Puller(`puller ${i + 1}`, world, traffic, limit)),
      ...Array.from({ length: plan.plainReaders }, (_, i) => new PlainReader(`plain reader ${i + 1}`, world, STREAM)),
    ];
  }

  async run(): Promise<void> {
    const { scheduler, dynamo } = this.#world;
    const { counterLostAtMs } = this.#plan;
    if (counterLostAtMs !== null)
      scheduler.happen(counterLostAtMs, 'the counter is lost', () => this.#world.loseCounter(STREAM));
    await this.#until(() => this.#written() || scheduler.nowMs > STORM_MS);
    this.#mishaps.stop();
    dynamo.weather = { ...calm, strength: dynamo.weather.strength, tokens: dynamo.weather.tokens };
    await this.#until(() => this.#written(), 'an op was never answered');
    // What is still on its way may arrive until now.
    const lateMs = scheduler.nowMs + 30_000;
    scheduler.happen(30_000, 'nothing is late any more', () => {});
    await this.#until(() => scheduler.nowMs >= lateMs);
    for (const reader of this.#readers) reader.end = this.#top();
    await this.#until(() => this.#readers.every(({ done }) => done), 'a reader never came to the end');
    const all = await this.#everything();
    if (this.#world.history.violations.length === 0) this.#world.history.finish(STREAM, all);
  }

  #written(): boolean {
    return this.#writers.every(({ done }) => done);
  }

  /** Until then, or until something is wrong; or, which is wrong, until it takes far too long. */
  async #until(reached: () => boolean, otherwise?: string): Promise<void> {
    const { scheduler, history } = this.#world;
    const endMs = scheduler.nowMs + CALM_MS;
    await scheduler.run(
      () => reached() || history.violations.length > 0 || scheduler.nowMs > endMs,
      scheduler.steps + STEPS_MAX,
    );
    if (otherwise !== undefined && !reached() && history.violations.length === 0) history.wedged(otherwise);
  }

  #top(): bigint {
    return this.#world.dynamo.database.keys(STREAM).at(-1) ?? 0n;
  }

  async #everything(): Promise<readonly SequencedOp[]> {
    const all: SequencedOp[] = [];
    const store = this.#world.store(this.#world.process('last reader'));
    let done = false;
    const read = async () => {
      for (let after = 0n; ;) {
        const { ops, next } = await store.read(STREAM, after, 500);
        all.push(...ops);
        if (next === after) break;
        after = next;
      }
    };
    void read()
      .catch((error: unknown) => this.#world.history.wedged(`the last read failed: ${String(error)}`))
      .finally(() => (done = true));
    await this.#until(() => done, 'the last read never ended');
    return all;
  }
}

export const noPromises: Promises = { ...allPromises, complete: false, dense: false, once: false };
