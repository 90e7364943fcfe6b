/** The demo, killed again and again. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { SeededRandom } from '@tidemark/libs-kernel/testing';
import { Launcher, type ServiceName, type Site, hardKill, newSite, servicePids } from './launcher.ts';
import { foldOf, pullAll, readViews } from './whole-path.ts';

const RECORDS = 2000;
const SERVICES: readonly ServiceName[] = ['relay', 'ingest', 'fold-worker'];

// TIDEMARK_SEED repeats the moments of a failed run as far as time can be repeated.
const seed = Number(process.env.TIDEMARK_SEED ?? Date.now() % 1_000_000);
const random = new SeededRandom(seed);

let site: Site;
const launchers: Launcher[] = [];

function start(...args: string[]): Launcher {
  const launcher = new Launcher(site, args);
  launchers.push(launcher);
  return launcher;
}

/** A file with the records of these moments, each with an id of its own. */
function recordsOf(moments: readonly number[]): string {
  const file = path.join(site.folder, `${moments[0]}-${moments.at(-1)}.ndjson`);
  const ids = moments.flatMap((moment) => Array.from({ length: RECORDS }, (_, n) => `m${moment}-${n}`));
  writeFileSync(file, ids.map((event_id) => `${JSON.stringify({ event_id, text: 'x'.repeat(200) })}\n`).join(''));
  return file;
}

/** Plays a demo, kills the service after so long, and tells whether the demo was still on then. */
async function interrupted(file: string, service: ServiceName, afterMs: number): Promise<boolean> {
  const demo = start('--demo', file);
  await demo.says(/^posting/m);
  await Promise.race([after(afterMs), demo.ended]);
  const pid = servicePids(site).get(service);
  if (pid !== undefined) hardKill(pid);
  const { code, stderr } = await demo.ended;
  if (code === 0) return false;
  expect(stderr.trim()).toBe(`${service} died (signal SIGKILL)`);
  return true;
}

/**
 * Each demo but the first begins with what the crash of the one before it left, and is killed itself, at a random moment of its first `part`.
 * At least `hitsMin` of the kills must come before a demo ends: the others prove nothing.
 */
export function crashTest(moments: number, part: number, hitsMin: number): void {
  beforeAll(async () => {
    site = await newSite();
  });
  afterAll(async () => {
    for (const launcher of launchers) await launcher.destroy(site);
    site.remove();
  });

  test(`ING-2, RLY-6, FLD-1: kill -9 of any service at ${moments} random moments of the demo loses and doubles nothing (TIDEMARK_SEED=${seed})`, async () => {
    const every = Array.from({ length: moments + 1 }, (_, moment) => moment);
    const lengthMs = await demoLength();
    let hits = 0;
    for (let moment = 1; moment <= moments; moment++) {
      const service = SERVICES[moment % SERVICES.length] ?? 'relay';
      if (await interrupted(recordsOf([moment - 1, moment]), service, random.fraction() * part * lengthMs)) hits += 1;
    }
    expect(hits).toBeGreaterThanOrEqual(hitsMin);
    const again = await start('--demo', recordsOf(every)).ended;
    expect({ code: again.code, stderr: again.stderr }).toEqual({ code: 0, stderr: '' });
    await everythingOnce(every);
  }, 480_000);
}

/** How long a demo lasts from its first post on, uninterrupted. */
async function demoLength(): Promise<number> {
  const demo = start('--demo', recordsOf([0]));
  await demo.says(/^posting/m);
  const startedMs = performance.now();
  await demo.says(/^accepted/m);
  const lengthMs = performance.now() - startedMs;
  expect((await demo.ended).code).toBe(0);
  return lengthMs;
}

async function everythingOnce(every: readonly number[]): Promise<void> {
  const launcher = start();
  await launcher.says(/Try:/);
  const ops = await pullAll(site, '0.events');
  const expected = every.flatMap((moment) => Array.from({ length: RECORDS }, (_, n) => `m${moment}-${n}`));
  expect(ops.map(({ targetId }) => targetId).sort()).toEqual(expected.sort());
  expect(new Set(ops.map(({ opId }) => opId)).size).toBe(ops.length);
  const views = await readViews(site, '0.events', 'events');
  expect(new Map([...views].map(([id, { fields }]) => [id, fields.body]))).toEqual(foldOf(ops));
  launcher.signal('SIGTERM');
  expect((await launcher.ended).code).toBe(0);
}
