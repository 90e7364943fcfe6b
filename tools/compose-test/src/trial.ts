import { connectFold, connectIngest, connectRelay, worldOf } from '@tidemark/libs-client';
import { setTimeout as sleep } from 'node:timers/promises';
import { aborted, unlessAborted } from './aborts.ts';
import type { Arguments } from './arguments.ts';
import { byWork } from './busiest.ts';
import { type Outside, addDemo, folded, intakeDone, readLog, readView } from './checks.ts';
import type { Hands, Step } from './compose-test.ts';
import { FRONT, frontFetch } from './front.ts';
import { type App, apps } from './images.ts';
import { Ledger } from './ledger.ts';
import { Load } from './load.ts';
import type { System } from './system.ts';

/** The share of the load after which a replica of each service is killed. */
const KILLS: readonly (readonly [App, number])[] = [
  ['ingest', 0.2],
  ['relay', 0.4],
  ['fold-worker', 0.6],
];
/** Of the generated sample. */
const DEMO_RECORDS = 1000;
/** Starts everything, makes the tables and plays the demo. */
export async function bringUp(system: System, hands: Hands, step: Step, signal: AbortSignal): Promise<void> {
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
    await sleep(200, undefined, { signal });
  }
}

/** Load, three kills, and what is broken in the end: a line for each. */
export async function underLoad(
  { events }: Arguments,
  system: System,
  step: Step,
  signal: AbortSignal,
): Promise<string[]> {
  const outside = await fronts(system, signal);
  const ledger = new Ledger();
  await addDemo(outside, ledger);
  if (ledger.size !== DEMO_RECORDS) throw new Error(`the demo left ${ledger.size} ops in the log, not ${DEMO_RECORDS}`);
  step(`posting, pushing and reading until ${events} events and ops are accepted`);
  const load = new Load({ clients: outside.clients, ledger, count: events, signal });
  const startedMs = performance.now();
  const killing = killOneOfEach(system, load, events, step, signal);
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

async function killOneOfEach(
  system: System,
  load: Load,
  events: number,
  step: Step,
  signal: AbortSignal,
): Promise<void> {
  for (const [app, share] of KILLS) {
    await load.reached(events * share);
    if (load.ended) return;
    const [busiest, ...others] = await byWork(app, await system.replicas(app), signal);
    if (busiest === undefined) throw new Error(`no replica of ${app} runs`);
    await system.kill(busiest.replica);
    const all = others.reduce((sum, { done }) => sum + done, busiest.done);
    step(
      `killed ${busiest.replica.container}, which did ${busiest.done} of ${all}, after ${load.accepted} were accepted`,
    );
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
