import { lstat, readFile, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { FolderWatches } from './folder-watches.ts';

/** A file's text, or why it has none. */
export type FileContent =
  { readonly kind: 'text'; readonly text: string } | { readonly kind: 'unreadable'; readonly problem: string };

/** A tenant's files by their path in its folder, with slashes. */
export type TenantFiles = ReadonlyMap<string, FileContent>;

/** Where settings are read from. */
export interface SettingsFolder {
  /** Every tenant's files as they are now. Rejects when the folder itself cannot be read. */
  read(): Promise<ReadonlyMap<string, TenantFiles>>;
  /**
   * `changed` is called soon after a change of what was read since, or never: who must know looks from time to time.
   */
  watch(changed: () => void): { close(): void };
}

const FILE_BYTES_MAX = 1024 * 1024;

/** `<folder>/<tenant>/tenant.json` and `<folder>/<tenant>/tables/<table>.json`. */
export function settingsFolder(folder: string): SettingsFolder {
  const watches = new FolderWatches();
  return {
    async read() {
      for (let round = 1; ; round++) {
        const { tenants, gone } = await readTenants(folder, watches);
        const now = await namesIn(folder);
        // Who was not there for a moment, because the whole folder was being exchanged, was not removed.
        const odd = gone.filter((name) => now.includes(name));
        if (odd.length === 0) return tenants;
        if (round < ROUNDS_MAX) continue;
        for (const name of odd) if (!(await isLink(path.join(folder, name)))) throw new Unsettled();
        return tenants;
      }
    },
    watch: (changed) => watches.start(changed),
  };
}

const ROUNDS_MAX = 3;

class Unsettled extends Error {
  readonly code = 'EBUSY';
}

async function readTenants(folder: string, watches: FolderWatches) {
  const seen = new Set<string>();
  /** Watched before it is read: what changes after that is told. */
  const open = async (place: string): Promise<readonly string[]> => {
    seen.add(place);
    watches.follow(place, (await stat(place)).ino);
    return namesIn(place);
  };
  const tenants = new Map<string, TenantFiles>();
  const gone: string[] = [];
  for (const name of await open(folder)) {
    const place = path.join(folder, name);
    const files = await readTenantIn(place, open);
    if (files === 'gone') gone.push(name);
    else if (files !== 'file') tenants.set(name, files);
  }
  watches.keepOnly(seen);
  return { tenants, gone };
}

async function readTenantIn(
  place: string,
  open: (place: string) => Promise<readonly string[]>,
): Promise<TenantFiles | 'gone' | 'file'> {
  try {
    return (await stat(place)).isDirectory() ? await readTenant(place, open) : 'file';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    // A folder that cannot be read is no matter of other tenants.
    return code === 'ENOENT' ? 'gone' : new Map([['.', unreadable(`cannot be read (${code})`)]]);
  }
}

async function readTenant(folder: string, open: (place: string) => Promise<readonly string[]>): Promise<TenantFiles> {
  const files = new Map<string, FileContent>();
  for (const name of await open(folder)) {
    const place = path.join(folder, name);
    if (name !== 'tables' || !(await isFolder(place))) files.set(name, await readContent(place));
    else
      for (const table of await open(place)) files.set(`tables/${table}`, await readContent(path.join(place, table)));
  }
  return files;
}

/** What editors leave beside a file, and what mounts keep for themselves (`..data`), are no settings. */
async function namesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  return names.filter((name) => !name.startsWith('.') && !name.endsWith('~')).sort();
}

async function readContent(file: string): Promise<FileContent> {
  try {
    const { size } = await stat(file);
    if (size > FILE_BYTES_MAX) return unreadable(`is larger than ${FILE_BYTES_MAX} bytes`);
    return { kind: 'text', text: await readFile(file, 'utf8') };
  } catch (error) {
    return unreadable(`cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** Also of a link to one, as mounts make them. False when it is gone. */
async function isFolder(place: string): Promise<boolean> {
  return stat(place).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** One that leads nowhere stays among the names, and is nobody. */
const isLink = async (place: string): Promise<boolean> => (await lstat(place)).isSymbolicLink();

const unreadable = (problem: string): FileContent => ({ kind: 'unreadable', problem });
