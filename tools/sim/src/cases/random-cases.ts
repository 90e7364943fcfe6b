import { allPromises } from '../checkers/history.ts';
import { type Strength, type Weather, calm, stormy, strengths } from '../dynamo/weather.ts';
import type { Choices } from '../scheduler/choices.ts';
import { type Plan, type RandomCase, noPromises } from './random-case.ts';

const MB = 1024 * 1024;
const NEVER = { crashMs: Infinity, clockJumpMs: Infinity };

function oneOf<T>(choices: Choices, options: readonly T[]): T {
  return options[choices.pick(options.length)] as T;
}

/** Each misfortune is off, usual or frequent in a run, so that runs differ in kind. */
function weatherOf(choices: Choices, strength: Strength): Weather {
  const often = (usual: number) => usual * oneOf(choices, [0, 1, 1, 3]);
  return {
    ...stormy,
    strength,
    showMs: oneOf(choices, [
      [0, 5],
      [0, 40],
      [0, 400],
    ] as const),
    acknowledgeMs: oneOf(choices, [
      [0, 1],
      [0, 20],
      [0, 400],
    ] as const),
    pageMs: oneOf(choices, [
      [0, 0],
      [0, 20],
      [0, 200],
    ] as const),
    lostRequest: often(stormy.lostRequest),
    lateRequest: often(stormy.lateRequest),
    twiceDelivered: often(stormy.twiceDelivered),
    lostAnswer: often(stormy.lostAnswer),
    spuriousConflict: often(stormy.spuriousConflict),
    spuriousRefusal: often(stormy.spuriousRefusal),
    throttle: often(stormy.throttle),
    serverError: often(stormy.serverError),
    partialReasons: often(stormy.partialReasons),
    tokens: oneOf(choices, ['honoured', 'honoured', 'ignored'] as const),
  };
}

function batchesOf(choices: Choices, ops: number, largest: number): number[] {
  const batches: number[] = [];
  for (let left = ops; left > 0;) {
    const size = Math.min(left, 1 + choices.pick(choices.pick(2) === 0 ? 3 : largest));
    batches.push(size);
    left -= size;
  }
  return batches;
}

/** Several relays in any weather: every promise. */
function swarmPlan(choices: Choices): Plan {
  const groups = oneOf(choices, [
    ['a', 'b', 'c'],
    ['a', 'a', 'b', 'c'],
    ['a', 'a', 'b', 'b', 'c'],
  ]);
  const batchesByGroup = new Map(groups.map((group) => [group, batchesOf(choices, 20 + choices.pick(40), 60)]));
  return {
    weather: weatherOf(choices, oneOf(choices, strengths)),
    store: { maxOpsPerRound: oneOf(choices, [1, 2, 3, 7, 49]), contentionRounds: oneOf(choices, [10, 250]) },
    promises: allPromises,
    mishaps: { crashMs: oneOf(choices, [300, 3000, Infinity]), clockJumpMs: oneOf(choices, [1000, Infinity]) },
    relays: 2 + choices.pick(2),
    joined: choices.pick(2) === 0,
    repeats: true,
    pageBytesMax: oneOf(choices, [1500, MB]),
    pushers: groups.map((group) => ({ group, batches: batchesByGroup.get(group) as number[] })),
    pauseMs: oneOf(choices, [
      [0, 5],
      [0, 100],
    ] as const),
    pullLimits: [1 + choices.pick(5), 500],
    addEraOps: [],
    plainReaders: 0,
    before: { seqs: [] },
    counterLostAtMs: null,
  };
}

/** A table as older relays left it: holes, ops above the counter, no counter. No op of it has a claim. */
function legacyPlan(choices: Choices): Plan {
  const seqs: bigint[] = [];
  for (let seq = 1n; seqs.length < 30; seq++) if (choices.pick(3) > 0) seqs.push(seq);
  const top = seqs.at(-1) as bigint;
  const counter = oneOf(choices, [undefined, 1n, top / 2n, top, top + 3n]);
  return {
    ...swarmPlan(choices),
    before: { seqs, ...(counter === undefined ? {} : { counter }) },
    promises: { ...allPromises, dense: false },
    counterLostAtMs: oneOf(choices, [null, 500]),
  };
}

/** Relays that take seqs by ADD write the same table. Not promised then: RLY-3, dense seqs, and their own ops once. */
const addEraPlan =
  (promised: 'mixed' | 'complete') =>
  (choices: Choices): Plan => ({
    ...swarmPlan(choices),
    addEraOps: [10, 10],
    promises: { ...noPromises, complete: promised === 'complete' },
  });

/** `complete`: as if RLY-3 were promised beside them, which it is not. */
export const addEraCase = (promised: 'mixed' | 'complete'): RandomCase => ({
  name: promised === 'mixed' ? 'add-era' : 'add-era-complete',
  about: 'relays that take seqs by ADD beside ours',
  plan: addEraPlan(promised),
});

/** One relay that nothing disturbs. */
export const swarmOfOne: RandomCase = {
  name: 'undisturbed',
  about: 'one relay in calm weather',
  plan: (choices) => ({
    ...swarmPlan(choices),
    weather: calm,
    mishaps: NEVER,
    relays: 1,
    pushers: ['a', 'b'].map((group) => ({ group, batches: batchesOf(choices, 12, 6) })),
  }),
};

/** Many writers and nothing but the ceiling of one partition key. */
function hotPlan(choices: Choices): Plan {
  const pushers = Array.from({ length: 6 }, (_, i) => ({ group: `g${i}`, batches: batchesOf(choices, 150, 60) }));
  return {
    ...swarmPlan(choices),
    weather: { ...calm, strength: 'brief', showMs: [0, 10], acknowledgeMs: [0, 5], partitionUnits: 1000 },
    store: {},
    mishaps: NEVER,
    pushers,
    pauseMs: [0, 1],
  };
}

/** Clients that push once: what they are told of a refusal must be so. No request comes twice but by the SDK, which says so. */
function onceOnlyPlan(choices: Choices): Plan {
  const plan = swarmPlan(choices);
  return {
    ...plan,
    weather: { ...plan.weather, twiceDelivered: 0 },
    store: { ...plan.store, contentionRounds: 2 },
    repeats: false,
    pushers: ['a', 'b', 'c', 'd'].map((group) => ({ group, batches: batchesOf(choices, 40, 10) })),
    pauseMs: [0, 5],
  };
}

/** A reader that knows nothing of holes beside rounds of so many ops; a page is one instant. */
const plainPlan =
  (maxOpsPerRound: number) =>
  (choices: Choices): Plan => ({
    ...swarmPlan(choices),
    weather: { ...weatherOf(choices, oneOf(choices, ['impl', 'brief', 'weak'])), pageMs: [0, 0] },
    store: { maxOpsPerRound },
    pageBytesMax: MB,
    pushers: ['a', 'b', 'c'].map((group) => ({ group, batches: batchesOf(choices, 20, 6) })),
    plainReaders: 2,
  });

/** Long runs of missing seqs, judged by their ends; no foreign writer, and conflicts are certain. */
function longRunsPlan(choices: Choices): Plan {
  const start = 200n + BigInt(choices.pick(400));
  const plan = swarmPlan(choices);
  return {
    ...plan,
    weather: { ...plan.weather, strength: oneOf(choices, ['impl', 'brief', 'weak']) },
    store: { ...plan.store, longRuns: true },
    before: { seqs: [1n, 2n, start, start + 60n], counter: start + 60n },
    promises: { ...allPromises, dense: false },
  };
}

export const plainAt1: RandomCase = {
  name: 'plain-1',
  about: 'a plain reader beside rounds of one op',
  plan: plainPlan(1),
};

export const randomCases: readonly RandomCase[] = [
  { name: 'swarm', about: 'relays, pushers and pullers in any weather', plan: swarmPlan },
  { name: 'legacy', about: 'a table of older relays; the counter lost', plan: legacyPlan },
  addEraCase('mixed'),
  { name: 'hot', about: 'one stream at the ceiling of its partition key', plan: hotPlan },
  { name: 'once-only', about: 'clients that do not push again what was refused', plan: onceOnlyPlan },
  { name: 'long-runs', about: 'long runs of missing seqs by their ends', plan: longRunsPlan },
  plainAt1,
];

/** Breaks by design: what a plain reader sees beside rounds of 49. */
export const plainAt49: RandomCase = {
  name: 'plain-49',
  about: 'a plain reader beside rounds of 49',
  plan: plainPlan(49),
};
