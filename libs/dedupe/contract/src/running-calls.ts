import { Fault } from '@tidemark/libs-kernel';

/** The calls of one deduplicator that run now, so that closing it waits for them and refuses every later one. */
export class RunningCalls {
  readonly #running = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  async run<T>(call: () => Promise<T>): Promise<T> {
    if (this.#closing) throw new Fault('unavailable', 'the dedupe store is closed');
    const running = call();
    this.#running.add(running);
    return running.finally(() => this.#running.delete(running));
  }

  /** Stops what runs in the background, waits for it and for the calls, then ends the rest. Twice is once. */
  close(stop: () => Promise<void>, end: () => Promise<void>): Promise<void> {
    return (this.#closing ??= this.#close(stop, end));
  }

  async #close(stop: () => Promise<void>, end: () => Promise<void>): Promise<void> {
    await Promise.allSettled([stop(), ...this.#running]);
    await end();
  }
}
