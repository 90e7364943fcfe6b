/** What the tail's specs share: relays on one log, each as a process of its own, whose time is told. */
import type { Broker } from '@tidemark/libs-broker-contract';
import { MemoryBroker, MemoryQueues } from '@tidemark/libs-broker-contract/testing';
import { ManualTime, SeededRandom } from '@tidemark/libs-kernel/testing';
import { MemoryOpLog, MemoryOpStore, anOp } from '@tidemark/libs-op-store-contract/testing';
import type { EventSink } from './tail-events.ts';
import { TailHub, toldAppends } from './tail-hub.ts';
import { TailService } from './tail-service.ts';

export const POLL_MS = 200;
export const TOLD_POLL_MS = 2000;
export const HEARTBEAT_MS = 15_000;
export const SLOW_MS = 30_000;

/** A store that tells nobody of appends, as SQLite, and counts how often it is asked what changed. */
export class SilentOpStore extends MemoryOpStore {
  polls = 0;
  failing = false;

  override async watch(): Promise<null> {
    return null;
  }

  override async changes(position: string, limit: number) {
    this.polls++;
    if (this.failing) throw new Error('the store is away');
    return super.changes(position, limit);
  }
}

export interface TailRelayOptions {
  readonly store?: MemoryOpStore;
  readonly broker?: Broker | null;
  readonly strictCursor?: boolean;
  readonly readersMax?: number;
  /** False: the store cannot say what changed. */
  readonly indexed?: boolean;
}

/** Relays of one log and one broker. */
export class TailWorld {
  readonly time = new ManualTime();
  readonly log = new MemoryOpLog();
  readonly queues = new MemoryQueues(this.time);
  readonly stop = new AbortController();
  #seed = 0;

  broker(): MemoryBroker {
    return new MemoryBroker({ clock: this.time, sleeper: this.time }, this.queues);
  }

  relay(options: TailRelayOptions = {}) {
    const {
      store = new SilentOpStore(this.log),
      broker = null,
      strictCursor = false,
      readersMax = 100,
      indexed = true,
    } = options;
    const counts = { waiting: 0, dropped: 0, delivered: [] as number[], woken: [] as string[], warnings: 0 };
    const { time } = this;
    const random = new SeededRandom(this.#seed++);
    const log = { warn: () => void counts.warnings++ };
    const parts = { opStore: store, clock: time, sleeper: time, random, log, stopping: this.stop.signal };
    const metrics = {
      waiting: (readers: number) => void (counts.waiting = readers),
      woken: (source: string) => void counts.woken.push(source),
      delivered: (ms: number) => void counts.delivered.push(ms),
      dropped: () => void counts.dropped++,
    };
    const bounds = { readersMax, pollMs: POLL_MS, heardPollMs: TOLD_POLL_MS };
    const hub = new TailHub({ ...parts, ...bounds, changes: indexed ? store : null, broker, metrics });
    const events = { heartbeatMs: HEARTBEAT_MS, slowMs: SLOW_MS };
    const tail = new TailService({ ...parts, hub, metrics, strictCursor, events });
    const told = toldAppends(store, hub);
    const append = (stream: string, ...ids: string[]) =>
      told.append(
        stream,
        ids.map((opId) => anOp({ opId })),
      );
    return { store, hub, tail, append, counts };
  }
}

export type TailRelay = ReturnType<TailWorld['relay']>;

/** Lets run whatever waits for nothing but promises. */
export async function settle(turns = 100): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await undefined;
}

/** What a promise has come to by now, if anything. */
export function watched<T>(promise: Promise<T>): { value: T | undefined; ended: boolean; error: unknown } {
  const seen: { value: T | undefined; ended: boolean; error: unknown } = {
    value: undefined,
    ended: false,
    error: undefined,
  };
  promise.then(
    (value) => Object.assign(seen, { value, ended: true }),
    (error: unknown) => Object.assign(seen, { error, ended: true }),
  );
  return seen;
}

export const idsOf = (page: string): string[] =>
  (JSON.parse(page) as { ops: { op_id: string }[] }).ops.map(({ op_id }) => op_id);

export interface SpecEvent {
  readonly id: bigint;
  readonly ids: readonly string[];
}

/** A client of a stream of events, which reads as much as it likes. */
export class SpecSink implements EventSink {
  readonly gone = new AbortController();
  text = '';
  ended = false;
  dropped = false;
  /** False: what is written stays in the server's memory. */
  reading = true;
  /** False: what arrives is forgotten. */
  keeping = true;
  unread = 0;
  unreadMost = 0;
  #taken: (() => void)[] = [];

  write(bytes: Uint8Array): boolean {
    if (this.gone.signal.aborted) return true;
    if (this.keeping) this.text += Buffer.from(bytes).toString();
    if (this.reading) return true;
    this.unread += bytes.length;
    this.unreadMost = Math.max(this.unreadMost, this.unread);
    return false;
  }

  taken(): Promise<void> {
    if (this.reading) return Promise.resolve();
    return new Promise((resolve) => this.#taken.push(resolve));
  }

  read(): void {
    this.reading = true;
    this.readOnce();
  }

  readOnce(): void {
    this.unread = 0;
    for (const resolve of this.#taken.splice(0)) resolve();
  }

  end(): void {
    this.ended = true;
  }

  drop(): void {
    this.dropped = true;
    this.leave();
  }

  leave(): void {
    this.gone.abort();
    this.readOnce();
  }

  get heartbeats(): number {
    return this.text.split('\n\n').filter((block) => block === ':').length;
  }

  /** Events that arrived whole. */
  get events(): SpecEvent[] {
    const whole = this.text.slice(0, this.text.lastIndexOf('\n\n') + 2);
    return [...whole.matchAll(/^id: (-?\d+)\ndata: (.*)\n\n/gm)].map(([, id, data]) => ({
      id: BigInt(id!),
      ids: idsOf(data!),
    }));
  }
}

/** A stream of events that runs; a refusal is an error. */
export async function follow(
  { tail }: TailRelay,
  since = 0n,
  limit = 500,
  stream = 's',
  sink = new SpecSink(),
  mayGoOn = async () => true,
): Promise<SpecSink> {
  const followed = await tail.follow(stream, since, limit, sink.gone.signal);
  if (followed.kind !== 'events') throw new Error(`refused, the head is ${followed.head}`);
  void followed.events.run(sink, mayGoOn);
  return sink;
}

/** A broker that loses what `lose` says. */
export function lossy(broker: MemoryBroker, lose: () => boolean): Broker {
  return new Proxy(broker, {
    get(inner, name) {
      const value: unknown = Reflect.get(inner, name);
      if (name === 'notify')
        return (topic: string, detail: string) => {
          if (!lose()) inner.notify(topic, detail);
        };
      return typeof value === 'function' ? (value.bind(inner) as unknown) : value;
    },
  });
}
