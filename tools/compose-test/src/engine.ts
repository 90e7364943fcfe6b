import type { Guardian } from './held.ts';
import { onPath, run } from '@tidemark/tools-services';
import { startEngine } from './own-engine.ts';

export interface Engine {
  /** The environment in which docker and Compose speak to it. */
  readonly env: NodeJS.ProcessEnv;
  readonly version: string;
  /** Started by this process: it knows no image but ours, and what it builds needs the network of the host. */
  readonly own: boolean;
}

const ANSWERS_WITHIN_MS = 15_000;

/** The engine that answers; else, where it is asked for, one that is started here; else why there is none. */
export async function findEngine(guardian: Guardian, env: NodeJS.ProcessEnv): Promise<Engine | string> {
  const docker = await onPath('docker', env);
  const version = docker === undefined ? null : await versionOf(env);
  if (version !== null) return { env, version, own: false };
  if (env['TIDEMARK_COMPOSE_TEST'] === '1') {
    const own = await startEngine(guardian, env);
    return { env: own, version: (await versionOf(own)) ?? 'unknown', own: true };
  }
  return docker === undefined ? 'there is no docker on PATH' : 'docker is on PATH, but no engine answers it';
}

export function versionOf(env: NodeJS.ProcessEnv): Promise<string | null> {
  const ask = run('docker', ['version', '--format', '{{.Server.Version}}'], { env, timeout: ANSWERS_WITHIN_MS });
  return ask.catch(() => null);
}
