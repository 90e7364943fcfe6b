import { watch } from 'node:fs';
import { readFile, readdir, stat } from 'node:fs/promises';
import path from 'node:path';

/** A file's text, or why it has none. */
export type FileContent =
  { readonly kind: 'text'; readonly text: string } | { readonly kind: 'unreadable'; readonly problem: string };

/** A tenant's files by their path in its folder, with slashes. */
export type TenantFiles = ReadonlyMap<string, FileContent>;

/** Where settings are read from. */
export interface SettingsFolder {
  /** Every tenant's files as they are now. Rejects when the folder itself cannot be read. */
  read(): Promise<ReadonlyMap<string, TenantFiles>>;
  /** `changed` is called soon after a change, or never: who must know looks from time to time. */
  watch(changed: () => void): { close(): void };
}

const FILE_BYTES_MAX = 1024 * 1024;

/** `<folder>/<tenant>/tenant.json` and `<folder>/<tenant>/tables/<table>.json`. */
export function settingsFolder(folder: string): SettingsFolder {
  return {
    async read() {
      const tenants = new Map<string, TenantFiles>();
      for (const name of await namesIn(folder)) {
        if (await isFolder(path.join(folder, name))) tenants.set(name, await readTenant(path.join(folder, name)));
      }
      return tenants;
    },
    watch(changed) {
      try {
        const watcher = watch(folder, { recursive: true, persistent: false }, changed);
        watcher.on('error', () => watcher.close());
        return watcher;
      } catch {
        // Some file systems tell nothing, and so does one without watches left.
        return { close: () => {} };
      }
    },
  };
}

async function readTenant(folder: string): Promise<TenantFiles> {
  const files = new Map<string, FileContent>();
  for (const name of await namesIn(folder)) {
    const place = path.join(folder, name);
    if (name !== 'tables' || !(await isFolder(place))) files.set(name, await readContent(place));
    else
      for (const table of await namesIn(place))
        files.set(`tables/${table}`, await readContent(path.join(place, table)));
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

const unreadable = (problem: string): FileContent => ({ kind: 'unreadable', problem });
