import { closeSync, existsSync, mkdirSync, openSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Longer addresses are cut by the kernel, on one system or another. */
const ADDRESS_BYTES_MAX = 100;
const OPEN_FOLDERS = '/proc/self/fd';
const SUFFIX = '.sock';

/** The folder in which every process that listens has its socket. */
export class NotifyFolder {
  readonly #path: string;
  #handle: number | undefined;

  constructor(queueFolder: string) {
    this.#path = join(queueFolder, 'notify');
  }

  make(): void {
    mkdirSync(this.#path, { recursive: true });
  }

  /** Sockets of all who listen; of a process that was killed too, until somebody finds it dead. */
  sockets(): string[] {
    try {
      return readdirSync(this.#path).filter((name) => name.endsWith(SUFFIX));
    } catch {
      return []; // Nobody has listened yet.
    }
  }

  /** Where a socket is, as a path that fits into an address; undefined when none does. */
  address(name: string): string | undefined {
    const path = join(this.#path, name);
    if (Buffer.byteLength(path) <= ADDRESS_BYTES_MAX) return path;
    if (!existsSync(OPEN_FOLDERS)) return undefined;
    this.#handle ??= openSync(this.#path, 'r');
    return `${OPEN_FOLDERS}/${this.#handle}/${name}`;
  }

  path(name: string): string {
    return join(this.#path, name);
  }

  remove(name: string): void {
    rmSync(this.path(name), { force: true });
  }

  close(): void {
    if (this.#handle !== undefined) closeSync(this.#handle);
    this.#handle = undefined;
  }
}

export function socketName(id: string): string {
  return `${id}${SUFFIX}`;
}
