/** Processes on the queue file that the specs watch and kill. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { SeededRandom } from '@tidemark/libs-kernel/testing';
import { type SpecQueue, drain } from './spec-queue.ts';

export type Child = ChildProcessByStdio<null, Readable, null>;

export const PUBLISHER = join(__dirname, 'publish-loop.spec-child.ts');
export const CONSUMER = join(__dirname, 'fetch-once.spec-child.ts');

export interface AfterKills {
  readonly acknowledged: number;
  /** What the queue holds in the end, in its order. */
  readonly texts: readonly string[];
}

/** Kills a publisher so often, after a random number of acknowledgements; each goes on after the last acknowledged message. */
export async function killPublishers(queue: SpecQueue, kills: number): Promise<AfterKills> {
  const { worker } = await queue.start();
  const random = new SeededRandom(3);
  let acknowledged = 0;
  for (let kill = 0; kill < kills; kill++) {
    // What the last one did not get to say is published again under its key.
    const child = publisher(queue, acknowledged);
    acknowledged += (await killAfter(child, 1 + Math.floor(random.fraction() * 300))).length;
  }
  return { acknowledged, texts: await drain(worker) };
}

export function publisher(queue: SpecQueue, first: number, count?: number): Child {
  return spawnNode(PUBLISHER, queue.folder, `${first}`, ...(count === undefined ? [] : [`${count}`]));
}

export function spawnNode(...args: readonly string[]): Child {
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
}

/** What the process said before it was killed, which is after so many lines. */
export async function killAfter(child: Child, lines: number): Promise<string[]> {
  const said: string[] = [];
  const gone = once(child, 'exit');
  for await (const line of createInterface({ input: child.stdout })) {
    if (said.push(line) === lines) child.kill('SIGKILL');
  }
  await gone;
  return said;
}

export function collect(child: Child): Promise<string[]> {
  return killAfter(child, Infinity);
}
