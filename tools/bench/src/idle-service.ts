// B13: what a service costs that does nothing: from its start to ready, and its resident memory after a while, each against a bare app of
// Nest on Fastify that was bundled with the same tool.
//   node tools/bench/src/idle-service.ts [--quick]
import assert from 'node:assert/strict';
import { setTimeout as after } from 'node:timers/promises';
import { buildAll, removeBare } from './idle/bare-app.ts';
import { IdleProcess } from './idle/idle-process.ts';
import { median } from './measure/alternate.ts';
import { printJson } from './measure/report.ts';

const SERVICES = ['relay', 'ingest', 'fold-worker'];
const GOALS = { ready: 2, memory: 1.6 };
const quick = process.argv.includes('--quick');
const starts = quick ? 3 : 15;
const idleMs = quick ? 3000 : 60_000;
const idles = quick ? 1 : 3;

const entries = await buildAll(SERVICES);
const readyMs = new Map<string, number[]>([...entries.keys()].map((name) => [name, []]));
const memoryMb = new Map<string, number[]>([...entries.keys()].map((name) => [name, []]));

// The first round fills the caches of the disk and is not counted.
for (let round = 0; round <= starts; round++) {
  for (const [name, entry] of entries) {
    const started = await IdleProcess.start(entry);
    if (round > 0) readyMs.get(name)?.push(started.readyMs);
    if (round === 0 && name === 'relay') await verify(started.url);
    await started.stop();
  }
}
for (let round = 0; round < idles; round++) {
  const running = new Map<string, IdleProcess>();
  for (const [name, entry] of entries) running.set(name, await IdleProcess.start(entry));
  await after(idleMs);
  for (const [name, one] of running) memoryMb.get(name)?.push(one.memory());
  for (const one of running.values()) await one.stop();
}
removeBare();

const [ready, memory] = [mediansOf(readyMs), mediansOf(memoryMb)];
table('start to ready', ready, 'ms', GOALS.ready);
table(`resident memory after ${idleMs / 1000} s`, memory, 'MiB', GOALS.memory);
printJson(
  'idle-service',
  new Map([...named(ready, 'ready, ms'), ...named(memory, 'memory, MiB')]),
  ratio(ready, 'relay'),
);

/** A service that is ready works. */
async function verify(url: string): Promise<void> {
  const op = {
    envelope_version: 1,
    op_id: 'a',
    lamport: 1,
    site: 1,
    target_kind: '',
    target_id: '',
    field: '',
    op_type: '',
  };
  const body = JSON.stringify({ ops: [{ ...op, author: '', wall_clock: '' }] });
  const pushed = await fetch(`${url}/streams/s/ops`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  });
  assert.deepEqual([pushed.status, await pushed.json()], [200, { appended: 1 }]);
  assert.equal(((await (await fetch(`${url}/streams/s/ops`)).json()) as { next: number }).next, 1);
}

function mediansOf(all: ReadonlyMap<string, number[]>): Map<string, number> {
  return new Map([...all].map(([name, values]) => [name, median(values)]));
}

function ratio(medians: ReadonlyMap<string, number>, name: string): number {
  return (medians.get(name) as number) / (medians.get('bare') as number);
}

function table(title: string, medians: ReadonlyMap<string, number>, unit: string, goal: number): void {
  console.log(`\n${title} (goal: at most ${goal} x of bare)\n${'-'.repeat(title.length)}`);
  for (const [name, value] of medians)
    console.log(
      `${name.padEnd(12)} ${value.toFixed(1).padStart(8)} ${unit}  ${ratio(medians, name).toFixed(2).padStart(5)} x`,
    );
}

function named(medians: ReadonlyMap<string, number>, unit: string): [string, number][] {
  return [...medians].map(([name, value]) => [`${name}: ${unit}`, value]);
}
