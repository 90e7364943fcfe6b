import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Engine } from './engine.ts';

export const root = path.join(import.meta.dirname, '../../..');
export const apps = ['relay', 'ingest', 'fold-worker'] as const;
export type App = (typeof apps)[number];

/** As compose.test.yaml names it. */
export const imageOf = (app: App) => `tidemark-test-${app}`;

const WORDS_SHOWN = 20;

/** The image of an app from the sources as they are, by the one Dockerfile. Says each step of the Dockerfile as it begins. */
export async function buildImage(
  app: App,
  { env, own }: Engine,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const options = ['--file', path.join(root, 'docker/Dockerfile'), '--build-arg', `APP=${app}`, '--tag', imageOf(app)];
  if (own) options.push('--network', 'host');
  const child = spawn('docker', ['build', ...options, root], { env, signal, stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(child, 'close');
  // An abort is told by `ended` at the bottom; until then it is nobody's.
  ended.catch(() => {});
  const words: string[] = [];
  for await (const line of createInterface({ input: child.stderr })) {
    words.push(line);
    const [, step] = /^#\d+ (\[.*\d+\/\d+\] RUN .*)/.exec(line) ?? [];
    if (step !== undefined && !words.slice(0, -1).includes(line)) say(`  ${step}`);
  }
  const [code] = (await ended) as [number | null];
  if (code !== 0) throw new Error(`the image of ${app} cannot be built:\n${words.slice(-WORDS_SHOWN).join('\n')}`);
}
