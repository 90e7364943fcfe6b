import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { SharedStore } from '../spec-processes.ts';
import type { Scratch } from './scratch.ts';

/** The database of a scratch, for processes to share; by another way in when it is given. */
export function sharedDatabase(scratch: Scratch, url = scratch.url): SharedStore {
  return {
    script: `
      import { connectPostgres } from '${pathToFileURL(path.join(__dirname, 'connect.ts')).href}';
      const stores = await connectPostgres({ url: place, clock, random, sleeper, warn: () => {} });`,
    place: url,
    open: () => scratch.open({ lockTimeoutMs: 2000 }),
  };
}
