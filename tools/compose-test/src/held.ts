import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';

/** What has to go when the test ends. */
export interface Held {
  /** The environment in which docker speaks to the engine. */
  readonly env?: NodeJS.ProcessEnv;
  /** The words of a Compose command for our project; the project exists, in whole or in part. */
  readonly compose?: readonly string[];
  readonly images?: readonly string[];
  /** Where base images are made; it is removed. */
  readonly workshop?: string;
  /** Leader of a process group that works there. */
  readonly worker?: number | undefined;
  /** Of an engine that was started here. */
  readonly engine?: OwnEngine;
}

export interface OwnEngine {
  readonly pid: number;
  /** Its sockets and its state; it is removed. */
  readonly folder: string;
  /** Its images; it stays. */
  readonly data: string;
}

/**
 * Takes everything down when it is told to, and when this process ends in whatever way, kill -9 included: a process of its own reads a pipe
 * that only we hold, and its end is the word to begin.
 */
export class Guardian {
  readonly #child: ChildProcess;
  #held: Held = {};

  constructor() {
    const script = path.join(import.meta.dirname, 'take-down.ts');
    this.#child = spawn(process.execPath, [script], { detached: true, stdio: ['pipe', 'inherit', 'inherit'] });
    this.#child.stdin?.on('error', () => {});
  }

  /** To be called before a thing comes to be; with a process, as soon as it has a number. */
  hold(more: Held): void {
    this.#held = { ...this.#held, ...more };
    this.#child.stdin?.write(`${JSON.stringify(this.#held)}\n`);
  }

  /** Resolves when nothing is left; false: something could not be removed, and was named. */
  async takeDown(): Promise<boolean> {
    const ended = new Promise<number | null>((resolve) => this.#child.once('exit', resolve));
    this.#child.stdin?.end();
    return (await ended) === 0;
  }
}
