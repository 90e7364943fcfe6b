import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.ts';
import type { OwnFolder } from './own-folder.ts';

export interface ServerPlan {
  readonly name: string;
  readonly endpoint: string;
  /** Holds everything that the server writes. */
  readonly folder: OwnFolder;
  readonly file: string;
  readonly args: readonly string[];
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined;
  /** Asks the server for a clean end. */
  readonly stopSignal: NodeJS.Signals;
  /** Ends it fast when we are gone, without leaving children or shared memory behind. */
  readonly dropSignal: NodeJS.Signals;
  /** Resolves once the server answers in its own protocol; rejects while it does not. */
  answers(): Promise<void>;
}

const readyWithinMs = 30_000;
const stopWithinMs = 10_000;
const portAttempts = 3;

/** Starts a server on a free port; with another one when somebody took that port in between. */
export async function startOnFreePort(folder: OwnFolder, plan: (port: number) => Promise<ServerPlan>): Promise<Server> {
  for (let attempt = 1; ; attempt += 1) {
    const server = new Server(await plan(await freePort()));
    try {
      await server.restart();
      return server;
    } catch (error) {
      if (attempt < portAttempts) continue;
      await folder.remove();
      throw error;
    }
  }
}

/** One server process of ours. Its port and data survive `crash()` and `restart()`; `stop()` ends both. */
export class Server {
  readonly #plan: ServerPlan;
  #child: ChildProcess | undefined;

  constructor(plan: ServerPlan) {
    this.#plan = plan;
  }

  get endpoint(): string {
    return this.#plan.endpoint;
  }

  get folder(): string {
    return this.#plan.folder.path;
  }

  /** kill -9; answers when the process is gone. */
  async crash(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Starts the process on its port and data; answers when it is ready. */
  async restart(): Promise<void> {
    const failure = await this.#untilReady(this.#spawn());
    if (failure === undefined) return;
    await this.#end('SIGKILL');
    throw new Error(`${this.#plan.name} did not start: ${failure}\n${this.#lastWords()}`);
  }

  /** Stops it in the middle of whatever it does; its sockets stay open and silent until it goes on. */
  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  /** A clean end, by force after a bound; removes the server's files. A second call does nothing. */
  async stop(): Promise<void> {
    await this.#end(this.#plan.stopSignal);
    await this.#plan.folder.remove();
  }

  #spawn(): ChildProcess {
    const { file, args, folder, owner, dropSignal } = this.#plan;
    const log = openSync(this.#logFile, 'a');
    // A session of its own, so that Ctrl-C in a terminal reaches us alone and we decide the order of things.
    const child = spawn(file, args, { cwd: folder.path, detached: true, stdio: ['ignore', log, log], ...owner });
    closeSync(log);
    child.unref();
    if (child.pid !== undefined) folder.guard(child.pid, dropSignal);
    return (this.#child = child);
  }

  /** Answers why the server is not ready, when it has ended or a bound has passed. */
  async #untilReady(child: ChildProcess): Promise<string | undefined> {
    let failure: string | undefined;
    child.once('error', (error) => (failure = error.message));
    child.once('exit', (code, signal) => (failure = `it ended with ${signal ?? `code ${code}`}`));
    const deadline = performance.now() + readyWithinMs;
    for (;;) {
      const refusal = await this.#plan.answers().then(
        () => undefined,
        (error: unknown) => `no answer within ${readyWithinMs} ms (${String(error)})`,
      );
      // The exit counts first: what answered may be another server that holds the port.
      if (failure !== undefined || refusal === undefined) return failure;
      if (performance.now() > deadline) return refusal;
      await sleep(20);
    }
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child?.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      child.ref();
      const ended = once(child, 'exit');
      child.kill(signal);
      // Of one that is paused nothing but SIGKILL would be heard.
      child.kill('SIGCONT');
      const force = setTimeout(() => child.kill('SIGKILL'), stopWithinMs);
      await ended;
      clearTimeout(force);
    }
    this.#plan.folder.release();
  }

  get #logFile(): string {
    return path.join(this.folder, 'server.log');
  }

  #lastWords(): string {
    return readFileSync(this.#logFile, 'utf8').split('\n').slice(-20).join('\n');
  }
}
