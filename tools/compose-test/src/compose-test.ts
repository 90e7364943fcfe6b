import { ServerAbsent } from '@tidemark/tools-services';
import { connectFold, connectIngest, connectRelay, worldOf } from '@tidemark/libs-client';
import type { Arguments } from './arguments.ts';
import { makeBaseImages } from './base-images.ts';
import { type Outside, addDemo, folded, intakeDone, readLog, readView } from './checks.ts';
import { type Engine, findEngine } from './engine.ts';
import { FRONT, frontFetch } from './front.ts';
import { Guardian } from './held.ts';
import { type App, apps, buildImage } from './images.ts';
import { Ledger } from './ledger.ts';
import { Load } from './load.ts';
import { System } from './system.ts';

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

/** The share of the load after which a replica of each service is killed. */
const KILLS: readonly (readonly [App, number])[] = [
  ['ingest', 0.2],
  ['relay', 0.4],
  ['fold-worker', 0.6],
];
/** Of the generated sample. */
const DEMO_RECORDS = 1000;
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
function stepsOf({ say }: Hands): (line: string) => void {
  const startedMs = performance.now();
  return (line) => say(`[${((performance.now() - startedMs) / 1000).toFixed(0).padStart(4)} s] ${line}`);
}

async function test(
  args: Arguments,
  hands: Hands,
  step: (line: string) => void,
  guardian: Guardian,
  engine: Engine,
): Promise<number> {
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

async function bringUp(system: System, hands: Hands, step: (line: string) => void, signal: AbortSignal): Promise<void> {
  step('starting DynamoDB, NATS and Postgres');
  await system.up(['dynamodb', 'nats', 'postgres'], signal);
  const [dynamodb] = await system.replicas('dynamodb');
  step('making the tables');
  await unlessAborted(hands.makeTables(dynamodb?.url ?? ''), signal);
  step('starting two replicas of each app');
  await system.up(apps, signal);
  const urls = await Promise.all(apps.map(async (app) => (await system.replicas(app)).map(({ url }) => url)));
  for (const url of urls.flat()) await ready(url, signal);
  const [relay = '', ingest = '', fold = ''] = urls.map(([first]) => first);
  step('playing the demo');
  await unlessAborted(hands.playDemo({ relay, ingest, fold }), signal);
}

/** Resolves when the replica is ready for requests. */
async function ready(url: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    const answer = await fetch(`${url}/readyz`, { signal }).catch(() => null);
    if (answer?.ok) return;
    signal.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function underLoad(
  { events }: Arguments,
  system: System,
  step: (line: string) => void,
  signal: AbortSignal,
): Promise<string[]> {
  const outside = await fronts(system, signal);
  const ledger = new Ledger();
  await addDemo(outside, ledger);
  if (ledger.size !== DEMO_RECORDS) throw new Error(`the demo left ${ledger.size} ops in the log, not ${DEMO_RECORDS}`);
  step(`posting, pushing and reading until ${events} events and ops are accepted`);
  const load = new Load({ clients: outside.clients, ledger, count: events, signal });
  const startedMs = performance.now();
  const killing = killOneOfEach(system, load, events, step);
  await Promise.race([Promise.all([load.run(), killing]), aborted(signal)]);
  const seconds = (performance.now() - startedMs) / 1000;
  step(`${load.accepted} accepted in ${seconds.toFixed(1)} s, ${Math.round(load.accepted / seconds)} a second`);
  if (load.problems.length > 0) return load.problems;
  await intakeDone(outside);
  step('every event is in the log');
  await folded(outside, ledger);
  step('every op is folded; reading all of it back');
  const problems: string[] = [];
  for (const stream of ledger.streams) {
    const [log, view] = [await readLog(outside, stream), await readView(outside, stream)];
    step(`${stream}: ${log.length} ops in the log, ${view.size} documents in the view`);
    problems.push(...ledger.violations(stream, log, view));
  }
  return problems;
}

async function killOneOfEach(system: System, load: Load, events: number, step: (line: string) => void): Promise<void> {
  for (const [app, share] of KILLS) {
    await load.reached(events * share);
    if (load.ended) return;
    const [first] = await system.replicas(app);
    if (first === undefined) throw new Error(`no replica of ${app} runs`);
    await system.kill(first);
    step(`killed ${first.container} after ${load.accepted} were accepted`);
  }
}

/** Clients that go through one front for each service. */
async function fronts(system: System, signal: AbortSignal): Promise<Outside> {
  const world = worldOf(globalThis);
  const front = async (app: App) => {
    const urls = (await system.replicas(app)).map(({ url }) => url);
    return { ...world, url: FRONT, fetch: frontFetch(() => urls, world.fetch) };
  };
  const [relay, ingest, fold] = [await front('relay'), await front('ingest'), await front('fold-worker')];
  const clients = { relay: connectRelay(relay), ingest: connectIngest(ingest), fold: connectFold(fold) };
  return { clients, relayFetch: relay.fetch, signal };
}

/** For work that cannot be told to stop: nobody waits for it any longer. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return Promise.race([work, aborted(signal)]);
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}
