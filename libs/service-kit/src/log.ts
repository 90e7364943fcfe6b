import type { LoggerService } from '@nestjs/common';
import { pino, type Logger } from 'pino';

export type { Logger } from 'pino';

/** JSON lines on standard output: time, level, service, message and fields. No event content above debug (SEC-2). */
export function createLog(service: string, level: string): Logger {
  return pino({
    level,
    base: { service },
    messageKey: 'message',
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  });
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
