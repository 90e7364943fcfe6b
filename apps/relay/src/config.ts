import path from 'node:path';
import { z } from 'zod';
import { type Settings, address, onOff, sharedSettings } from '@tidemark/libs-service-kit';

export const relaySettings = {
  ...sharedSettings,
  RELAY_ADDR: address.prefault('127.0.0.1:8787').describe('listen address'),
  RELAY_STORE: z.enum(['sqlite']).default('sqlite').describe('the op log: sqlite'),
  RELAY_SQLITE_FILE: z.string().min(1).optional().describe('file of the op log; unset: relay.sqlite in TIDEMARK_DATA'),
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
