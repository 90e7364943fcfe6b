import { ServerAbsent } from '@tidemark/tools-services';
import type { Arguments } from './arguments.ts';
import { makeBaseImages } from './base-images.ts';
import { type Engine, findEngine } from './engine.ts';
import { Guardian } from './held.ts';
import { apps, buildImage } from './images.ts';
import { System } from './system.ts';
import { bringUp, underLoad } from './trial.ts';

/** Says what begins now. */
export type Step = (line: string) => void;

/** What the launcher has and this package needs. */
export interface Hands {
  say(line: string): void;
  complain(line: string): void;
  /** Makes the tables of the services on a stand-in for DynamoDB. */
  makeTables(endpoint: string): Promise<void>;
  /** Plays the demo of `npm start -- --demo` against services that run. */
  playDemo(urls: Readonly<Record<'relay' | 'ingest' | 'fold', string>>): Promise<void>;
  /** Aborts when somebody wants to stop. */
  readonly stop: AbortSignal;
}

const VIOLATIONS_SHOWN = 20;
const LOG_LINES_SHOWN = 15;

/** Resolves to the exit code, when nothing is left of what was started. */
export async function runComposeTest(args: Arguments, hands: Hands): Promise<number> {
  const guardian = new Guardian();
  const steps = stepsOf(hands);
  let code = 1;
  try {
    const engine = await findEngine(guardian, process.env);
    code = typeof engine === 'string' ? skipped(hands, engine) : await test(args, hands, steps, guardian, engine);
  } catch (error) {
    if (hands.stop.aborted) code = 130;
    else if (error instanceof ServerAbsent) code = skipped(hands, error.message);
    else hands.complain(`\nFAILED: ${(error as Error).message}`);
  }
  if (!(await guardian.takeDown()) && code === 0) code = 1;
  if (code === 0) steps('passed, and nothing is left');
  return code;
}

function skipped({ complain }: Hands, reason: string): number {
  complain(`\nSKIPPED: nothing was tested, for ${reason}.`);
  complain('Start a Docker engine, or set TIDEMARK_COMPOSE_TEST=1 to have one started here (Debian, as root).');
  return 2;
}

/** Lines that begin with the seconds since the start. */
function stepsOf({ say }: Hands): Step {
  const startedMs = performance.now();
  return (line) => say(`[${((performance.now() - startedMs) / 1000).toFixed(0).padStart(4)} s] ${line}`);
}

async function test(args: Arguments, hands: Hands, step: Step, guardian: Guardian, engine: Engine): Promise<number> {
  step(`Docker engine ${engine.version}${engine.own ? ', started here' : ''}`);
  if (engine.own) await makeBaseImages(engine, guardian, step, hands.stop);
  const system = await System.plan(engine, guardian);
  for (const app of apps) {
    step(`building the image of ${app}`);
    await buildImage(app, engine, step, hands.stop);
  }
  const signal = AbortSignal.any([hands.stop, AbortSignal.timeout(args.minutes * 60_000)]);
  try {
    await bringUp(system, hands, step, signal);
    const problems = await underLoad(args, system, step, signal);
    for (const problem of problems.slice(0, VIOLATIONS_SHOWN)) hands.complain(`BROKEN: ${problem}`);
    if (problems.length > VIOLATIONS_SHOWN) hands.complain(`... and ${problems.length - VIOLATIONS_SHOWN} more`);
    if (problems.length > 0) throw new Error(`${problems.length} promises are broken`);
    return 0;
  } catch (error) {
    if (!hands.stop.aborted) hands.complain(await system.lastWords(LOG_LINES_SHOWN).catch(() => ''));
    throw signal.aborted && !hands.stop.aborted ? new Error(`not done in ${args.minutes} minutes`) : error;
  }
}
