import path from 'node:path';
import { z } from 'zod';
import { type Settings, address, sharedSettings } from '@tidemark/libs-service-kit';

export const foldSettings = {
  ...sharedSettings,
  FOLD_ADDR: address.prefault('127.0.0.1:8789').describe('listen address'),
  FOLD_OP_STORE: z.enum(['sqlite']).default('sqlite').describe('the op log that is folded: sqlite'),
  FOLD_SQLITE_FILE: z.string().min(1).optional().describe('file of the op log; unset: relay.sqlite in TIDEMARK_DATA'),
  FOLD_FEED: z.enum(['op-store']).default('op-store').describe('where changes are seen: op-store'),
  FOLD_VIEWS: z.enum(['sqlite']).default('sqlite').describe('where documents and marks live: sqlite'),
};

export type FoldSettings = Settings<typeof foldSettings>;

export function opLogFile(settings: FoldSettings): string {
  return settings.FOLD_SQLITE_FILE ?? path.join(settings.TIDEMARK_DATA, 'relay.sqlite');
}

export function viewsFile(settings: FoldSettings): string {
  return path.join(settings.TIDEMARK_DATA, 'views.sqlite');
}
