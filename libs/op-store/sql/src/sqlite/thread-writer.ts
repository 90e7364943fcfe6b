import { Worker } from 'node:worker_threads';
import { Fault } from '@tidemark/libs-kernel';
import type { Batch, Writer, WriterSettings, Written } from './command.ts';

interface Asked {
  readonly resolve: (written: Written) => void;
  readonly reject: (fault: Fault) => void;
}

/**
 * The writer's thread, seen from outside. It has a connection of its own, so that an fsync, however slow, does not stop this thread from
 * reading. It starts with the first batch, and keeps no process alive while it has nothing to do.
 */
export class ThreadWriter implements Writer {
  readonly failed: Promise<never>;
  readonly #settings: WriterSettings;
  readonly #fail: (fault: Fault) => void;
  #thread: Worker | undefined;
  /** Batches that the thread has not answered, in the order in which they were sent. */
  readonly #asked: Asked[] = [];
  #ended: Fault | undefined;

  constructor({ file, busyTimeoutMs }: WriterSettings) {
    this.#settings = { file, busyTimeoutMs };
    const { promise, reject } = Promise.withResolvers<never>();
    this.failed = promise;
    this.#fail = reject;
  }

  write(batch: Batch): Promise<Written> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    this.#thread ??= this.#start();
    this.#thread.ref();
    this.#thread.postMessage(batch);
    return new Promise((resolve, reject) => this.#asked.push({ resolve, reject }));
  }

  async close(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    if (thread === undefined || this.#ended !== undefined) return;
    const gone = new Promise((resolve) => thread.once('exit', resolve));
    thread.ref();
    thread.postMessage(null);
    await gone;
  }

  #start(): Worker {
    // No options of this process: some of them (--eval) concern its own entry.
    const options = { name: 'op log writer', workerData: this.#settings, execArgv: [] };
    const thread = new Worker(new URL('./writer-thread.ts', import.meta.url), options);
    thread.on('message', (answers: readonly Written[]) => {
      for (const written of answers) this.#asked.shift()?.resolve(written);
      if (this.#asked.length === 0) thread.unref();
    });
    thread.once('error', (error) => this.#end(String(error)));
    thread.once('exit', (code) => this.#end(`exit code ${code}`));
    return thread;
  }

  #end(why: string): void {
    if (this.#thread === undefined || this.#ended !== undefined) return;
    const what = `the thread that writes ${this.#settings.file} has ended`;
    this.#ended = new Fault('unavailable', `${what}: ${why}`);
    const unknown = `${what} before it answered this write: ${why}`;
    for (const { reject } of this.#asked.splice(0)) reject(new Fault('unknown_outcome', unknown));
    this.#fail(this.#ended);
  }
}
