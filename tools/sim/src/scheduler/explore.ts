import { PathChoices } from './choices.ts';
import { type Scheduler, quiet } from './scheduler.ts';

/** One run of a small case, made anew for every schedule. */
export interface SmallRun {
  readonly scheduler: Scheduler;
  /** Sets the scene, in one order, and starts the actors. */
  begin(): Promise<void>;
  /** Equal for two moments only when the same can follow. */
  fingerprint(): string;
  /** What is wrong so far. */
  violations(): readonly string[];
  /** Judges the end of a run in which nothing is pending any more. */
  finish(): void;
}

export interface ExploreBounds {
  readonly schedulesMax: number;
  /** Events of one schedule. Meeting it means that the exploration is not exhaustive. */
  readonly stepsMax: number;
}

export interface Exploration {
  /** Schedules that were run, those included that ended in a state that was met before. */
  readonly schedules: number;
  readonly completed: number;
  readonly states: number;
  readonly steps: number;
  /** Every order of events and every answer that the case allows was tried. */
  readonly exhausted: boolean;
  /** The first violation, with the choices that lead to it and the events. */
  readonly found: {
    readonly violation: string;
    readonly path: readonly number[];
    readonly trace: readonly string[];
  } | null;
}

/**
 * Depth first through all choices of a small case. A schedule is left where it reaches a state that was met before: code whose only
 * sources are its calls and sleeps does the same after the same history, so the rest was or will be tried from there.
 */
export async function explore(
  make: (choices: PathChoices, traceLines?: number) => SmallRun,
  bounds: ExploreBounds,
): Promise<Exploration> {
  const met = new Set<string>();
  let [schedules, completed, steps] = [0, 0, 0];
  let cut = false;
  let path: readonly number[] | null = [];
  while (path !== null && schedules < bounds.schedulesMax) {
    const choices: PathChoices = new PathChoices(path);
    const run = make(choices);
    schedules++;
    const end = await follow(run, choices, met, bounds.stepsMax);
    steps += run.scheduler.steps;
    if (end === 'completed') completed++;
    if (end === 'cut') cut = true;
    const [violation] = run.violations();
    if (violation !== undefined) {
      const taken = [...choices.taken];
      const found = { violation, path: taken, trace: (await replay(make, taken)).trace };
      return { schedules, completed, states: met.size, steps, exhausted: false, found };
    }
    path = nextPath(choices);
  }
  return { schedules, completed, states: met.size, steps, exhausted: path === null && !cut, found: null };
}

/** The events of one schedule, as text. */
export async function replay(make: (choices: PathChoices, traceLines?: number) => SmallRun, path: readonly number[]) {
  const run = make(new PathChoices(path), TRACE_LINES);
  await run.begin();
  await run.scheduler.run(() => run.violations().length > 0);
  if (run.violations().length === 0) run.finish();
  return { trace: run.scheduler.trace.lines(), violations: run.violations() };
}

const TRACE_LINES = 500;

async function follow(run: SmallRun, choices: PathChoices, met: Set<string>, stepsMax: number) {
  const { scheduler } = run;
  await run.begin();
  await quiet();
  while (scheduler.steps < stepsMax) {
    if (!(await scheduler.step())) {
      run.finish();
      return 'completed';
    }
    if (run.violations().length > 0) return 'violated';
    if (!choices.beyondGiven) continue;
    const state = run.fingerprint();
    if (met.has(state)) return 'met';
    met.add(state);
  }
  return 'cut';
}

/** The next branch in depth-first order; null when all were taken. */
function nextPath({ taken, widths }: PathChoices): readonly number[] | null {
  for (let at = taken.length - 1; at >= 0; at--) {
    const next = (taken[at] as number) + 1;
    if (next < (widths[at] as number)) return [...taken.slice(0, at), next];
  }
  return null;
}
