import path from 'node:path';
import { z } from 'zod';
import { type Settings, address, corsOrigins, onOff, seconds, sharedSettings } from '@tidemark/libs-service-kit';

const whole = (bounds: { readonly min: number; readonly max: number; readonly default: number }) =>
  z.coerce.number().int().min(bounds.min).max(bounds.max).default(bounds.default);

export const relaySettings = {
  ...sharedSettings,
  RELAY_ADDR: address.prefault('127.0.0.1:8787').describe('listen address'),
  RELAY_STORE: z.enum(['sqlite']).default('sqlite').describe('the op log: sqlite'),
  RELAY_SQLITE_FILE: z.string().min(1).optional().describe('file of the op log; unset: relay.sqlite in TIDEMARK_DATA'),
  RELAY_PUSH_DEADLINE_SECS: seconds({ min: 1, max: 300, default: 20 }).describe(
    'seconds after which a push is answered, whatever became of it',
  ),
  RELAY_QUEUE_PUSHES: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_000_000)
    .default(4096)
    .describe('pushes that may wait to be written; more are refused with 503'),
  RELAY_QUEUE_BYTES: z.coerce
    .number()
    .int()
    .min(1)
    .default(64 * 1024 * 1024)
    .describe('bytes of the pushes that may wait to be written'),
  RELAY_STRICT_CURSOR: z
    .enum(['0', '1'])
    .transform((digit) => digit === '1')
    .prefault('0')
    .describe('1: a pull with a cursor above the head is answered 409; 0: with an empty page'),
  RELAY_TAIL_READERS: whole({ min: 1, max: 1_000_000, default: 8000 }).describe(
    'long polls and streams of events at the same time; more are refused with 503',
  ),
  RELAY_TAIL_POLL_MS: whole({ min: 10, max: 60_000, default: 200 }).describe(
    'milliseconds between two looks for appends of other relays, while somebody waits and nothing tells of them',
  ),
  RELAY_TAIL_TOLD_POLL_MS: whole({ min: 10, max: 600_000, default: 2000 }).describe(
    'the same, while Postgres or the broker tells of them',
  ),
  RELAY_TAIL_HEARTBEAT_MS: whole({ min: 100, max: 60_000, default: 15_000 }).describe(
    'milliseconds of silence after which a stream of events says that it is alive',
  ),
  RELAY_TAIL_SLOW_SECS: seconds({ min: 1, max: 3600, default: 30 }).describe(
    'seconds after which a reader of events that takes nothing is cut off; it can resume',
  ),
  RELAY_CORS_ORIGINS: corsOrigins
    .optional()
    .describe('origins whose pages may use the relay from a browser, with commas, or *; unset: none'),
  RELAY_INTAKE: onOff('on').describe('on: events of the broker become ops of the log'),
};

export type RelaySettings = Settings<typeof relaySettings>;

export function sqliteFile(settings: RelaySettings): string {
  return settings.RELAY_SQLITE_FILE ?? path.join(settings.TIDEMARK_DATA, 'relay.sqlite');
}

/** The embedded queue is a file in this folder, shared with ingest. */
export function queueFolder(settings: RelaySettings): string {
  return path.join(settings.TIDEMARK_DATA, 'queue');
}
