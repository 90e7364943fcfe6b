// Started by held.ts: reads what there is to take down from its standard input, and does it when that ends.
import { readFile, rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { run } from '@tidemark/tools-services';
import type { Held, OwnEngine } from './held.ts';

const ENGINE_STOPS_WITHIN_MS = 20_000;
const LAYERS_KEPT = '8GB';

// Whoever stops the test may signal the whole group; who cleans up ends last, and without a reader of its words as well.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

const say = (line: string) => process.stdout.write(`${line}\n`);

async function read(): Promise<Held> {
  let last = '{}';
  for await (const line of createInterface({ input: process.stdin })) last = line;
  return JSON.parse(last) as Held;
}

async function takeDown({ env = process.env, compose, images = [], workshop, worker, engine }: Held): Promise<void> {
  const problems: string[] = [];
  const attempt = (work: Promise<unknown>) => work.catch((error: Error) => void problems.push(error.message));
  if (compose !== undefined) {
    say('taking the system down');
    const [program = '', ...words] = compose;
    await attempt(run(program, [...words, 'down', '--volumes', '--remove-orphans', '--timeout', '5'], { env }));
    // A tag that was not made yet is no problem.
    await run('docker', ['image', 'rm', ...images], { env }).catch(() => {});
  }
  if (worker !== undefined) await end(-worker, 0);
  if (workshop !== undefined) await attempt(clear([workshop]).then(() => remove(workshop)));
  if (engine !== undefined) {
    say('stopping the engine');
    // Its images and layers are kept for the next time, within bounds.
    await run('docker', ['image', 'prune', '--force'], { env }).catch(() => {});
    await run('docker', ['builder', 'prune', '--force', '--keep-storage', LAYERS_KEPT], { env }).catch(() => {});
    await attempt(stop(engine));
  }
  for (const problem of problems) process.stderr.write(`not taken down: ${problem}\n`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

async function stop({ pid, folder, data }: OwnEngine): Promise<void> {
  await end(pid, ENGINE_STOPS_WITHIN_MS);
  await clear([folder, data]);
  await remove(folder);
}

/** Ends a process, or a group by its negative number: asks first, and does not ask for longer than `withinMs`. */
async function end(pid: number, withinMs: number): Promise<void> {
  signal(pid, 'SIGTERM');
  const givesUpAt = performance.now() + withinMs;
  while (signal(pid, 0)) {
    if (performance.now() > givesUpAt) signal(pid, 'SIGKILL');
    await sleep(100);
  }
}

/** False: there is no such process. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

/** Unmounts what is mounted at or below the folders, the innermost first. */
async function clear(folders: readonly string[]): Promise<void> {
  const mounts = (await readFile('/proc/self/mounts', 'utf8')).split('\n').map((line) => line.split(' ')[1] ?? '');
  const below = mounts.filter((at) => folders.some((folder) => at === folder || at.startsWith(`${folder}/`)));
  for (const mounted of below.reverse()) await run('umount', ['--lazy', mounted]);
}

const remove = (folder: string) => rm(folder, { recursive: true, force: true });

await takeDown(await read());
