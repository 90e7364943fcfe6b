import type { LoggerService } from '@nestjs/common';
import { type Logger, type LoggerOptions, pino } from 'pino';
import { contextFields } from './request-context.ts';

export type { Logger } from 'pino';

/**
 * JSON lines on standard output: time, level, service, message and fields; of what is done for a request also `request_id` and `trace_id`. No event content above debug (SEC-2).
 * Written through process.stdout: pino's own destination tries for ever to flush at exit when the reader of the pipe is gone, so the
 * process would never end. Without a reader the lines are dropped.
 */
export function createLog(service: string, level: string): Logger {
  dropLinesThatNobodyReads();
  const options: LoggerOptions = {
    level,
    base: { service },
    messageKey: 'message',
    mixin: () => contextFields(),
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  };
  return pino(options, process.stdout);
}

const ignoreBrokenPipe = (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
};

function dropLinesThatNobodyReads(): void {
  // By its name: a worker of a test runner loads this file once for each test file, and all of them share one standard output.
  const isHeard = process.stdout.listeners('error').some(({ name }) => name === ignoreBrokenPipe.name);
  if (!isHeard) process.stdout.on('error', ignoreBrokenPipe);
}

/** Nest's own lines, at debug: they tell how Nest starts, not what the service does. Its errors stay errors. */
export class NestLog implements LoggerService {
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  log(message: unknown): void {
    this.#log.debug(String(message));
  }

  verbose(message: unknown): void {
    this.#log.trace(String(message));
  }

  debug(message: unknown): void {
    this.#log.debug(String(message));
  }

  warn(message: unknown): void {
    this.#log.warn(String(message));
  }

  error(message: unknown): void {
    this.#log.error(String(message));
  }
}
