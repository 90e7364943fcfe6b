import path from 'node:path';
import { z } from 'zod';
import { type Settings, address, corsOrigins, onOff, seconds, sharedSettings } from '@tidemark/libs-service-kit';

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
