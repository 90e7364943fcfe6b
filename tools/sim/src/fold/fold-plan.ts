import type { Choices } from '../scheduler/choices.ts';
import { type FoldWeather, STORM } from './fold-weather.ts';

/** A kind of run. */
export interface FoldCase {
  readonly name: string;
  readonly about: string;
  readonly plan: (choices: Choices) => FoldPlan;
}

export interface FoldPlan {
  readonly weather: FoldWeather;
  readonly views: 'memory' | 'dynamodb';
  readonly workers: number;
  readonly streams: readonly string[];
  /** Of each stream, the batches of each of its pushers by their sizes. */
  readonly batches: readonly (readonly number[])[];
  readonly pauseMs: readonly [number, number];
  /** Share of ops that no views take. */
  readonly poison: number;
  /** Seqs of each stream that are taken and never used. */
  readonly burned: number;
  /** Writers that take a seq and store an op there later, or much later. */
  readonly stragglers: { readonly count: number; readonly lateMs: readonly [number, number] } | null;
  /** 0: missing seqs are judged, none is passed by time. */
  readonly legacyGraceMs: number;
  /** Ops of each stream that stand there before the stream of the table is enabled. */
  readonly before: number;
  /** Mean times between mishaps of some worker; Infinity: none. */
  readonly crashMs: number;
  readonly standStillMs: number;
  readonly restartMs: number;
  /** Mean time between changes of the shards. */
  readonly reshapeMs: number;
  /** All workers are gone for so long, in the middle of the run. */
  readonly outageMs: number | null;
  /** The stream of the table is disabled for a while, and enabled again. */
  readonly reenabled: boolean;
  /** Workers go over to the next revision, one after the other. */
  readonly upgraded: boolean;
  /** Mean time between rebuilds that an operator asks for. */
  readonly rebuildMs: number;
  /** How often the feed names every stream, and how often a worker compares its marks; 0: never. */
  readonly censusMs: number;
  readonly sweepMs: number;
  readonly stormMs: number;
}

const oneOf = <T>(choices: Choices, options: readonly T[]): T => options[choices.pick(options.length)] as T;

function batchesOf(choices: Choices, ops: number): number[] {
  const batches: number[] = [];
  for (let left = ops; left > 0;) {
    const size = Math.min(left, 1 + choices.pick(6));
    batches.push(size);
    left -= size;
  }
  return batches;
}

/** Each misfortune is off, usual or frequent in a run, so that runs differ in kind. */
function weatherOf(choices: Choices): FoldWeather {
  const often = (usual: number) => usual * oneOf(choices, [0, 1, 1, 3]);
  const { dynamo, streams, views } = STORM;
  return {
    dynamo: {
      ...dynamo,
      strength: oneOf(choices, ['impl', 'brief', 'weak']),
      showMs: oneOf(choices, [
        [0, 5],
        [0, 40],
        [0, 400],
      ] as const),
      pageMs: oneOf(choices, [
        [0, 0],
        [0, 20],
        [0, 200],
      ] as const),
      lostRequest: often(dynamo.lostRequest) / 3,
      lateRequest: often(dynamo.lateRequest),
      twiceDelivered: often(dynamo.twiceDelivered),
      lostAnswer: often(dynamo.lostAnswer),
      throttle: often(dynamo.throttle),
      serverError: often(dynamo.serverError),
    },
    streams: {
      ...streams,
      shards: 1 + choices.pick(3),
      propagateMs: oneOf(choices, [
        [1, 50],
        [1, 400],
        [1, 3000],
      ] as const),
      delayed: often(streams.delayed),
      emptyPage: often(streams.emptyPage),
      partialPage: often(streams.partialPage),
      limited: often(streams.limited),
      omitted: often(streams.omitted),
      describeShardsMax: oneOf(choices, [1, 2, 100]),
      iteratorMs: oneOf(choices, [streams.iteratorMs, 3000, 1500]),
    },
    views: {
      ...views,
      callMs: oneOf(choices, [
        [1, 5],
        [1, 60],
        [1, 600],
      ] as const),
    },
  };
}

function stormPlan(choices: Choices): FoldPlan {
  const streams = ['a', 'b', 'c', 'd'].slice(0, 1 + choices.pick(4));
  return {
    weather: weatherOf(choices),
    views: oneOf(choices, ['memory', 'dynamodb']),
    workers: 2 + choices.pick(3),
    streams,
    batches: streams.map(() => batchesOf(choices, 10 + choices.pick(30))),
    pauseMs: oneOf(choices, [
      [0, 50],
      [0, 1500],
    ] as const),
    poison: oneOf(choices, [0, 0.05]),
    burned: choices.pick(4),
    stragglers: null,
    legacyGraceMs: 0,
    before: oneOf(choices, [0, 12]),
    crashMs: oneOf(choices, [1500, 6000, Infinity]),
    standStillMs: oneOf(choices, [4000, 12_000, Infinity]),
    restartMs: oneOf(choices, [8000, Infinity]),
    reshapeMs: oneOf(choices, [1500, 6000]),
    outageMs: null,
    reenabled: false,
    upgraded: false,
    rebuildMs: Infinity,
    censusMs: 20_000,
    sweepMs: oneOf(choices, [0, 10_000]),
    stormMs: 15_000,
  };
}

/** Writers that take a seq first and use it later share the table: their seqs are passed by time, and found if they are used after all. */
function addEraPlan(choices: Choices): FoldPlan {
  return {
    ...stormPlan(choices),
    stragglers: {
      count: 3,
      lateMs: oneOf(choices, [
        [0, 4000],
        [0, 30_000],
      ] as const),
    },
    legacyGraceMs: 8000,
    burned: 1 + choices.pick(3),
  };
}

/** Nobody reads for longer than records are kept. */
function outagePlan(choices: Choices): FoldPlan {
  const plan = stormPlan(choices);
  return { ...plan, outageMs: 25 * 3600_000, censusMs: 0, sweepMs: 0, burned: 0, reenabled: choices.pick(2) === 0 };
}

function upgradePlan(choices: Choices): FoldPlan {
  return { ...stormPlan(choices), upgraded: true, rebuildMs: oneOf(choices, [3000, 10_000, Infinity]) };
}

export const FOLD_CASES: readonly FoldCase[] = [
  {
    name: 'fold-storm',
    about: 'two to four fold workers on a stream that splits and rolls; crashes and pauses',
    plan: stormPlan,
  },
  { name: 'fold-add-era', about: 'beside writers that take seqs first and use them late, or never', plan: addEraPlan },
  { name: 'fold-outage', about: 'all workers gone for 25 hours; the stream enabled anew', plan: outagePlan },
  { name: 'fold-upgrade', about: 'workers of two revisions, and rebuilds while others fold', plan: upgradePlan },
];
