import type { Logger } from './log.ts';
import { systemSleeper } from './system.ts';

/** Who signals a whole group of processes, and a parent that hands its signal on, reach us twice within this time: one wish to stop. */
const ECHO_MS = 300;

/**
 * Shutdown in one order: readiness off, open work drained, stores closed, exit 0; a second signal exits at once (OPS-3).
 *
 *     SIGTERM ─▶ leaving (readyz 503, all else as ever) ─▶ stopping: HTTP closes when its requests are answered
 *             ─▶ background work stops ─▶ stores close ─▶ exit 0
 *
 * Who routes requests hears of it late: for `prestopMs` new connections are still accepted, and no answer keeps its connection (H1).
 */
export class Lifecycle {
  readonly #leaving = new AbortController();
  readonly #stopping = new AbortController();
  readonly #log: Logger;
  readonly #prestopMs: number;
  readonly #drainMs: number;
  #closing: Promise<void> | undefined;

  constructor(log: Logger, times: { readonly prestopMs: number; readonly drainMs: number }) {
    this.#log = log;
    this.#prestopMs = times.prestopMs;
    this.#drainMs = times.drainMs;
  }

  /** Aborted when this process was asked to stop: nothing new shall be sent to it. */
  get leaving(): AbortSignal {
    return this.#leaving.signal;
  }

  /** Aborted when shutdown begins: long polls end, loops stop after the step they are in. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  get draining(): boolean {
    return this.#leaving.signal.aborted;
  }

  /** Ends the process on SIGINT, SIGTERM, or when the parent that started it over an IPC channel is gone. */
  exitOnSignal(close: () => Promise<void>): void {
    let firstMs = 0;
    const stop = (why: string) => {
      if (this.#closing === undefined) {
        firstMs = performance.now();
        this.#closing = this.#shutdown(why, close);
      } else if (performance.now() - firstMs > ECHO_MS) {
        process.exit(1);
      }
    };
    process.on('SIGINT', () => stop('SIGINT'));
    process.on('SIGTERM', () => stop('SIGTERM'));
    if (process.channel !== undefined && process.channel !== null) {
      process.channel.unref();
      process.on('disconnect', () => stop('the parent process is gone'));
    }
  }

  async #shutdown(why: string, close: () => Promise<void>): Promise<void> {
    this.#log.info({ why, prestop_ms: this.#prestopMs }, 'stopping');
    this.#leaving.abort();
    if (this.#prestopMs > 0) await systemSleeper.sleep(this.#prestopMs);
    this.#stopping.abort();
    const late = setTimeout(() => {
      this.#log.error({ drain_ms: this.#drainMs }, 'not drained in time');
      process.exit(1);
    }, this.#drainMs + 2000);
    late.unref();
    try {
      await close();
    } catch (error) {
      this.#log.error({ err: error }, 'closing failed');
      process.exit(1);
    }
    this.#log.info('stopped');
    process.exit(0);
  }
}
