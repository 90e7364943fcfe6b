import { dynamodbStreamsFeed, type StreamsClient } from '@tidemark/libs-feed-dynamodb-streams';
import { LEASES_KEY } from '@tidemark/libs-feed-dynamodb-streams/tables';
import type { Views } from '@tidemark/libs-views-contract';
import { dynamoViews } from '@tidemark/libs-views-dynamodb';
import { directClient } from '../dynamo/direct-client.ts';
import { MemoryViews } from '@tidemark/libs-views-contract/testing';
import { noPromises } from '../cases/random-case.ts';
import { allPromises } from '../checkers/history.ts';
import type { Choices } from '../scheduler/choices.ts';
import type { SimProcess } from '../scheduler/sim-process.ts';
import { TABLE, World, type Wrap } from '../world.ts';
import { FoldHost, type WorkerParts } from './fold-host.ts';
import { FoldJudge } from './fold-judge.ts';
import type { FoldPlan } from './fold-plan.ts';
import { CALM, type FoldWeather } from './fold-weather.ts';
import { judgeLeases } from './lease-judge.ts';
import { randomOp, simReducer } from './sim-ops.ts';
import { poisoned, simViews } from './sim-views.ts';
import { SimStreams } from './streams/sim-streams.ts';

const LEASES = 'leases';
const VIEWS = 'views';

/** What is changed of every worker to see whether anybody notices. */
export interface FoldMutant {
  readonly meddle?: (parts: WorkerParts, process: SimProcess) => WorkerParts;
  readonly wrapTables?: Wrap;
  readonly wrapStreams?: Wrap;
}

export interface FoldWorldOptions {
  readonly choices: Choices;
  readonly seed: number;
  readonly plan: FoldPlan;
  readonly mutant?: FoldMutant;
  readonly traceLines?: number;
}

const asIs: Wrap = (client) => client;

/** The table of ops, its stream, leases and views, and the machines that fold; and those who judge them. */
export class FoldWorld {
  readonly world: World;
  readonly streams: SimStreams;
  readonly judge: FoldJudge;
  readonly hosts: readonly FoldHost[];
  readonly plan: FoldPlan;
  /** Streams whose views were written since they were looked at. */
  readonly touched = new Set<string>();
  /** All workers are gone, and none starts. */
  isOut = false;
  readonly leaseMs = 3000;
  readonly #mutant: FoldMutant;
  readonly #views: Views;
  #weather: FoldWeather;

  constructor({ choices, seed, plan, mutant = {}, traceLines = 0 }: FoldWorldOptions) {
    const { weather, legacyGraceMs } = plan;
    this.plan = plan;
    this.#mutant = mutant;
    this.#weather = weather;
    const promises = legacyGraceMs > 0 ? noPromises : { ...allPromises, dense: false };
    this.world = new World({ choices, seed, ordering: 'timed', weather: weather.dynamo, promises, traceLines });
    const { dynamo } = this.world;
    this.#views = plan.views === 'memory' ? new MemoryViews() : this.#dynamoViews();
    this.judge = new FoldJudge(dynamo, { views: this.#views, reducerOf: simReducer, legacyGraceMs });
    this.#before(choices);
    this.streams = new SimStreams(dynamo, TABLE, weather.streams);
    judgeLeases(dynamo.addTable(LEASES, [LEASES_KEY[0][0], LEASES_KEY[1][0]]), this.streams, this.judge);
    this.hosts = Array.from(
      { length: plan.workers },
      (_, i) =>
        new FoldHost({
          name: `w${i + 1}`,
          newProcess: (name) => this.world.process(name),
          newParts: (process, revision) => this.#parts(process, revision),
        }),
    );
  }

  get violations(): readonly string[] {
    return [...this.judge.violations, ...this.streams.violations, ...this.world.history.violations];
  }

  /** From now on nothing goes wrong any more. */
  calmDown(): void {
    const { dynamo } = this.world;
    const { strength } = dynamo.weather;
    this.#weather = CALM;
    dynamo.weather = { ...CALM.dynamo, strength };
    this.streams.weather = { ...CALM.streams, describeShardsMax: this.plan.weather.streams.describeShardsMax };
  }

  /** One event, and a look at what it did to the views. False: nothing is left to happen. */
  async step(): Promise<boolean> {
    if (!(await this.world.scheduler.step())) return false;
    for (const stream of this.touched) if (this.plan.streams.includes(stream)) await this.judge.look(stream);
    this.touched.clear();
    return true;
  }

  /** As those see them who judge. */
  #dynamoViews(): Views {
    const { dynamo } = this.world;
    const table = dynamo.addTable(VIEWS, ['stream_id', 'sk']);
    table.onWrite(({ key }) => void this.touched.add(key['stream_id']?.S ?? ''));
    return dynamoViews({ client: directClient(dynamo), table: VIEWS });
  }

  #viewsOf(process: SimProcess, wrap: Wrap): Views {
    const { world, plan } = this;
    if (plan.views === 'dynamodb') return poisoned(dynamoViews({ client: world.client(process, wrap), table: VIEWS }));
    const touched = (stream: string) => void this.touched.add(stream);
    return simViews(this.#views, process, world.scheduler, () => this.#weather.views, touched);
  }

  #before(choices: Choices): void {
    for (const stream of this.plan.streams) {
      const seqs: bigint[] = [];
      for (let seq = 1n; seqs.length < this.plan.before; seq++) if (choices.pick(5) > 0) seqs.push(seq);
      for (const seq of seqs) {
        const op = randomOp(choices, `${stream}-before-${seq}`, false);
        this.world.putOp(stream, seq, op);
      }
      if (seqs.length > 0) this.world.setCounter(stream, (seqs.at(-1) as bigint) + BigInt(choices.pick(3)));
    }
    this.world.history.begin();
  }

  /** What a worker tells its operator is part of what happened. */
  #log(process: SimProcess) {
    const { scheduler } = this.world;
    const tell = (fields: object, message: string) => {
      const text = JSON.stringify(fields, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
      scheduler.trace.add(scheduler.nowMs, `${process.name} says: ${message} ${text}`);
    };
    return { info: tell, warn: tell, error: tell };
  }

  #parts(process: SimProcess, revision: number): WorkerParts {
    const { world, plan } = this;
    const { meddle = (parts) => parts, wrapTables = asIs, wrapStreams = asIs } = this.#mutant;
    const log = this.#log(process);
    const feed = dynamodbStreamsFeed({
      client: world.client(process, wrapTables),
      streams: world.client(process, wrapStreams) as unknown as StreamsClient,
      opsTable: TABLE,
      leasesTable: LEASES,
      name: 'fold',
      workerId: process.name,
      clock: process,
      sleeper: process,
      random: process.random,
      log,
      leaseMs: this.leaseMs,
      pollMsMin: 100,
      pollMsMax: 1000,
      discoveryMs: 3000,
      lineageMs: 10_000,
      checkpointMs: 300,
      censusMs: plan.censusMs,
      segments: 3,
    });
    const parts: WorkerParts = {
      feed,
      opStore: world.store(process, { holes: plan.legacyGraceMs > 0 ? 'hold' : 'judge', patienceMs: 0 }, wrapTables),
      views: this.#viewsOf(process, wrapTables),
      reducers: [simReducer(revision)],
      legacyGraceMs: plan.legacyGraceMs,
      sweepMs: plan.sweepMs,
      log,
    };
    return meddle(parts, process);
  }
}
