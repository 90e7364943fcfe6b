import { Fault, asFault } from '@tidemark/libs-kernel';
import { eventReducer } from '../event-reducer.ts';
import { checkedReducers } from './checked.ts';
import { type LoadedReducers, compileDeclaration } from './compile.ts';
import { readDeclaration } from './declaration-text.ts';

/** How a file becomes text, or a module: only the caller touches the file system. */
export interface ReducerSource {
  readText(file: string): Promise<string>;
  /** The module's default export. */
  importDefault(file: string): Promise<unknown>;
}

/**
 * The reducers of a file, and beside them the built-in one of events, unless the file has one of that domain: a declaration (`.json`), or a module (any other ending) whose default export is a declaration, or
 * `{ reducers, indexes }` in code. What is wrong with it is a Fault `misconfigured` that names the file and the JSON pointer in it.
 */
export async function loadReducers(file: string, source: ReducerSource): Promise<LoadedReducers> {
  const { reducers, indexes } = await reducersOf(file, source);
  const events = reducers.some(({ domain }) => domain === eventReducer.domain) ? [] : [eventReducer];
  return { reducers: [...events, ...reducers], indexes };
}

async function reducersOf(file: string, source: ReducerSource): Promise<LoadedReducers> {
  if (file.endsWith('.json'))
    return compileDeclaration(readDeclaration(await loaded(file, () => source.readText(file)), file), file);
  const exported = await loaded(file, () => source.importDefault(file));
  const inCode = typeof exported === 'object' && exported !== null && 'reducers' in exported;
  return inCode ? checkedReducers(exported, file) : compileDeclaration(exported, file);
}

async function loaded<T>(file: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (thrown) {
    throw new Fault('misconfigured', `${file}: ${asFault(thrown).message}`, { cause: thrown });
  }
}
