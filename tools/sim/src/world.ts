import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { type DynamoClient, type DynamoOpStoreOptions, dynamoOpStore } from '@tidemark/libs-op-store-dynamodb';
import type { OpStore } from '@tidemark/libs-op-store-contract';
import { type Op, fnv1a32 } from '@tidemark/libs-wire';
import { Relay } from './actors/relay.ts';
import { History, type Promises, allPromises } from './checkers/history.ts';
import { rawOpItem } from './checkers/stored-op.ts';
import { itemText } from './dynamo/item.ts';
import { clientOf } from './dynamo/sim-client.ts';
import { type Liberties, SimDynamo, noLiberties } from './dynamo/sim-dynamo.ts';
import { type Weather, calm } from './dynamo/weather.ts';
import type { Choices } from './scheduler/choices.ts';
import { type Ordering, Scheduler } from './scheduler/scheduler.ts';
import { SimProcess } from './scheduler/sim-process.ts';
import { Trace } from './scheduler/trace.ts';
import { anOp } from './some-op.ts';

export const TABLE = 'ops';

/** Between the adapter and its client: how a mutant is made without a change of the code under test. */
export type Wrap = (client: DynamoClient) => DynamoClient;

export type StoreSettings = Partial<Omit<DynamoOpStoreOptions, 'client' | 'table' | 'clock' | 'sleeper' | 'random'>>;

export interface WorldOptions {
  readonly choices: Choices;
  readonly ordering: Ordering;
  readonly seed?: number;
  readonly weather?: Weather;
  readonly liberties?: Liberties;
  readonly promises?: Promises;
  readonly store?: StoreSettings;
  readonly wrap?: Wrap;
  /** Events that a failure shows. */
  readonly traceLines?: number;
}

/** One simulated world: a database, its processes, and the history that judges them. */
export class World {
  readonly scheduler: Scheduler;
  readonly dynamo: SimDynamo;
  readonly history: History;
  readonly seed: number;
  /** How rounds and holes ended, over all stores. */
  readonly counts = new Map<string, number>();
  readonly #options: WorldOptions;
  readonly #processes: SimProcess[] = [];

  constructor(options: WorldOptions) {
    this.#options = options;
    this.seed = options.seed ?? 0;
    this.scheduler = new Scheduler(options.choices, options.ordering, new Trace(options.traceLines ?? 0));
    this.dynamo = new SimDynamo(this.scheduler, options.weather ?? calm, options.liberties ?? noLiberties());
    this.history = new History(this.dynamo.database, options.promises ?? allPromises);
  }

  process(name: string): SimProcess {
    const process = new SimProcess(name, this.scheduler, fnv1a32(`${this.seed}/${name}`));
    this.#processes.push(process);
    return process;
  }

  client(process: SimProcess, wrap: Wrap = this.#options.wrap ?? ((client) => client)): DynamoClient {
    return wrap(clientOf(this.dynamo, process));
  }

  /** The code under test, with nothing in its memory. */
  store(process: SimProcess, settings: StoreSettings = {}, wrap?: Wrap): OpStore {
    const count = (name: string, by = 1) => void this.counts.set(name, (this.counts.get(name) ?? 0) + by);
    return dynamoOpStore({
      client: this.client(process, wrap),
      table: TABLE,
      clock: process,
      sleeper: process,
      random: process.random,
      log: { info: () => {}, warn: () => {} },
      metrics: {
        round: (end) => count(`round ${end}`),
        hole: (end, seqs) => count(`hole ${end}`, seqs),
        collision: () => count('collision'),
      },
      ...this.#options.store,
      ...settings,
    });
  }

  relay(name: string, settings: StoreSettings = {}, wrap?: Wrap): Relay {
    return new Relay(name, this, settings, wrap);
  }

  /** Ops that stand in the table before anybody starts, without claims; the counter where it is given. */
  before(stream: string, seqs: readonly bigint[], counter?: bigint): void {
    for (const seq of seqs) this.putOp(stream, seq, anOp({ opId: `old-${seq}` }));
    if (counter !== undefined) this.setCounter(stream, counter);
  }

  putOp(stream: string, seq: bigint, op: Op): void {
    this.dynamo.database.put(stream, seq, rawOpItem(stream, seq, op));
  }

  setCounter(stream: string, counter: bigint): void {
    this.dynamo.database.put(stream, 0n, counterItem(stream, counter));
  }

  /** The counter is gone, as after a restore that left it out. */
  loseCounter(stream: string): void {
    this.history.counterLost(stream);
    this.dynamo.database.put(stream, 0n, null);
  }

  /** Equal for two moments only when the same can follow. */
  fingerprint(): string {
    const { dynamo, history, scheduler } = this;
    return [
      dynamo.database.fingerprint(itemText),
      dynamo.tokens.fingerprint,
      `${dynamo.liberties.lostAnswers} ${dynamo.liberties.lateRequests}`,
      history.fingerprint(),
      ...this.#processes.map((process) => process.history),
      ...scheduler.pending().sort(),
    ].join('\n');
  }
}

function counterItem(stream: string, counter: bigint): Record<string, AttributeValue> {
  return { stream_id: { S: stream }, seq: { N: '0' }, next_seq: { N: String(counter) } };
}
