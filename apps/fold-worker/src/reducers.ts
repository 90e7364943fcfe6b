import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type LoadedReducers, eventReducer, loadReducers } from '@tidemark/libs-fold';

/** What a file declares, or events alone. */
export async function openReducers(file: string | undefined): Promise<LoadedReducers> {
  if (file === undefined) return { reducers: [eventReducer], indexes: [] };
  return loadReducers(path.resolve(file), {
    readText: (name) => readFile(name, 'utf8'),
    importDefault: async (name) => ((await import(pathToFileURL(name).href)) as { default: unknown }).default,
  });
}
