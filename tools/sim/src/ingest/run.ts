import { SeededChoices } from '../scheduler/choices.ts';
import { Scheduler } from '../scheduler/scheduler.ts';
import { Trace } from '../scheduler/trace.ts';
import { Gateway, type Meddle } from './gateway.ts';
import { Producer } from './producer.ts';
import { SimBackends, type StoredCopy } from './sim-backends.ts';
import { type IngestAnomalies, type IngestWeather, LATE, STORM, noAnomalies } from './weather.ts';

export interface IngestCase {
  readonly name: string;
  readonly about: string;
  readonly weather: IngestWeather;
  /** Tries of each client in which something may go wrong. */
  readonly troubledTries: number;
  /** No second copy ever, rather than none within the duplicate window of the first. */
  readonly isOnceForEver: boolean;
  readonly clients: number;
  /** Of those that send an id: so many share it. */
  readonly sharing: number;
  readonly beginWithinMs: number;
}

/**
 * `ingest-one-trouble`, `ingest-late`: each client meets trouble in its first try alone, so an obedient one comes back inside the duplicate window, and no event
 * may ever stand twice in the queue. `ingest-storm`: trouble without end; a copy behind the window is allowed, one inside it is not.
 */
export const INGEST_CASES: readonly IngestCase[] = [
  {
    name: 'ingest-one-trouble',
    about: 'two gateways, trouble in the first try of each client: every event once, for ever',
    weather: STORM,
    troubledTries: 1,
    isOnceForEver: true,
    clients: 6,
    sharing: 2,
    beginWithinMs: 3000,
  },
  {
    name: 'ingest-late',
    about: 'two gateways, publishes that arrive late: every event once, for ever',
    weather: LATE,
    troubledTries: 1,
    isOnceForEver: true,
    clients: 6,
    sharing: 2,
    beginWithinMs: 20_000,
  },
  {
    name: 'ingest-storm',
    about: 'two gateways, trouble without end: nothing answered is missing, no copy within the window',
    weather: STORM,
    troubledTries: 12,
    isOnceForEver: false,
    clients: 8,
    sharing: 4,
    beginWithinMs: 3000,
  },
];

export interface IngestRun {
  readonly violations: readonly string[];
  readonly anomalies: IngestAnomalies;
  readonly traceHash: string;
  readonly trace: readonly string[];
  readonly events: number;
  readonly copies: number;
  readonly acknowledged: number;
}

export interface RunOptions {
  readonly leaseMs?: number;
  readonly meddle?: Meddle;
  /** Last lines of the trace to keep. */
  readonly keep?: number;
}

const IDS_MAX = 9;
const TRIES_MAX = 40;
const STEPS_MAX = 200_000;

/** One run of two gateways on shared stores; the same seed is the same run. */
export async function runIngest(one: IngestCase, seed: number, options: RunOptions = {}): Promise<IngestRun> {
  const { leaseMs = 30_000, meddle = (parts) => parts, keep = 0 } = options;
  const trace = new Trace(keep);
  const scheduler = new Scheduler(new SeededChoices(seed), 'timed', trace);
  const anomalies = noAnomalies();
  const backends = new SimBackends(scheduler, anomalies);
  await backends.open('0');
  const gateways = ['g1', 'g2'].map((name) => new Gateway(name, scheduler, backends, { leaseMs, meddle }));
  const producers = Array.from({ length: one.clients }, (_, client) => {
    const group = Math.floor(client / one.sharing);
    const ids = idsOf(scheduler, group);
    return new Producer(scheduler, { ids, gateways, triesMax: TRIES_MAX, ...one });
  });
  await scheduler.run(() => false, STEPS_MAX);
  anomalies.inFlight = producers.reduce((sum, { inFlight }) => sum + inFlight, 0);
  const acknowledged = new Set(producers.flatMap((producer) => producer.acknowledged.map(({ id }) => id)));
  const violations = [
    ...missing(acknowledged, backends.copies),
    ...doubled(backends.copies, one.isOnceForEver ? Infinity : backends.duplicateWindowMs),
    ...(one.troubledTries < TRIES_MAX && producers.some(({ done }) => !done) ? ['a client was never answered'] : []),
  ];
  return {
    violations,
    anomalies,
    traceHash: trace.hash,
    trace: trace.lines(),
    events: scheduler.steps,
    copies: backends.copies.length,
    acknowledged: acknowledged.size,
  };
}

/** Clients of a group send some of the same ids, each in an order of its own. */
function idsOf(scheduler: Scheduler, group: number): string[] {
  const { choices } = scheduler;
  const ids = Array.from({ length: 1 + choices.pick(IDS_MAX) }, (_, n) => `${group}-${n}`);
  for (let i = ids.length - 1; i > 0; i--) {
    const j = choices.pick(i + 1);
    [ids[i], ids[j]] = [ids[j] as string, ids[i] as string];
  }
  // The same id twice in one batch, now and then also in two windows of it.
  if (choices.pick(3) === 0) ids.push(ids[0] as string);
  return ids;
}

function missing(acknowledged: ReadonlySet<string>, copies: readonly StoredCopy[]): string[] {
  const stored = new Set(copies.map(({ key }) => key));
  return [...acknowledged].filter((id) => !stored.has(id)).map((id) => `${id} was answered, and is not in the queue`);
}

function doubled(copies: readonly StoredCopy[], withinMs: number): string[] {
  const first = new Map<string, number>();
  return copies.flatMap(({ key, atMs }) => {
    const before = first.get(key);
    first.set(key, atMs);
    if (before === undefined || atMs - before >= withinMs) return [];
    return [`${key} is in the queue a second time, ${Math.round(atMs - before)} ms after the first`];
  });
}
