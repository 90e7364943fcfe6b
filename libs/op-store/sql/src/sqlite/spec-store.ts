import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { SharedStore } from '../spec-processes.ts';
import type { Scratch } from './scratch.ts';

/** The file of a scratch, for processes to share. */
export function sharedFile(scratch: Scratch): SharedStore {
  return {
    script: `
      import { connectSqlite } from '${pathToFileURL(path.join(__dirname, 'connect.ts')).href}';
      const stores = await connectSqlite({ file: place, clock, sleeper });`,
    place: scratch.file,
    open: () => scratch.open(),
  };
}
