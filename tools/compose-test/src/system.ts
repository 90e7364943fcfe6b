import path from 'node:path';
import { composeCommand, run } from '@tidemark/tools-services';
import type { Engine } from './engine.ts';
import type { Guardian } from './held.ts';
import { type App, apps, imageOf, root } from './images.ts';

export const composeFiles = ['compose.yaml', 'compose.test.yaml'].flatMap((name) => [
  '-f',
  path.join(root, 'docker', name),
]);

export interface Replica {
  readonly container: string;
  readonly url: string;
}

/** One line of `docker compose ps --format json`, as far as we look at it. */
interface Listed {
  readonly Name: string;
  readonly Service: string;
  readonly State: string;
  readonly Publishers: readonly { readonly PublishedPort: number }[] | null;
}

/** The composed system, from outside: its published ports and its containers. */
export class System {
  readonly #env: NodeJS.ProcessEnv;
  readonly #compose: readonly [string, ...string[]];

  private constructor(env: NodeJS.ProcessEnv, compose: readonly [string, ...string[]]) {
    this.#env = env;
    this.#compose = compose;
  }

  /** Nothing runs yet. Everything that will, the guardian takes down. */
  static async plan({ env }: Engine, guardian: Guardian): Promise<System> {
    const command = await composeCommand(env);
    const compose = [
      ...command,
      '--ansi',
      'never',
      '--project-name',
      `tidemark-test-${process.pid}`,
      ...composeFiles,
    ] as const;
    guardian.hold({ env, compose, images: apps.map(imageOf) });
    return new System(env, compose as unknown as readonly [string, ...string[]]);
  }

  /** Starts services and waits until they are healthy. */
  async up(services: readonly string[], signal: AbortSignal): Promise<void> {
    await this.#run(['up', '--detach', '--no-build', '--wait', '--quiet-pull', ...services], signal);
  }

  /** The replicas of a service that run, in the order of their names. */
  async replicas(service: string): Promise<readonly Replica[]> {
    const text = await this.#run(['ps', '--format', 'json', service]);
    // Older versions answer one array, newer ones an object a line.
    const listed = text.startsWith('[')
      ? (JSON.parse(text) as Listed[])
      : text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Listed]));
    return listed
      .filter(({ Service, State }) => Service === service && State === 'running')
      .map(({ Name, Publishers }) => ({ container: Name, url: `http://127.0.0.1:${portOf(Publishers)}` }))
      .sort((a, b) => (a.container < b.container ? -1 : 1));
  }

  /** SIGKILL: it gets no time for anything. */
  async kill({ container }: Replica): Promise<void> {
    await run('docker', ['kill', container], { env: this.#env });
  }

  /** The last words of the apps. */
  lastWords(lines: number): Promise<string> {
    return this.#run(['logs', '--no-color', '--tail', String(lines), ...apps]);
  }

  #run(words: readonly string[], signal?: AbortSignal): Promise<string> {
    const [program, ...own] = this.#compose;
    return run(program, [...own, ...words], { env: this.#env, ...(signal !== undefined && { signal }) });
  }
}

function portOf(publishers: Listed['Publishers']): number {
  const port = publishers?.find(({ PublishedPort }) => PublishedPort > 0)?.PublishedPort;
  if (port === undefined) throw new Error('a container publishes no port');
  return port;
}

export type { App };
