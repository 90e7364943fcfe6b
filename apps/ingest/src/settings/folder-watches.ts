import { type FSWatcher, watch } from 'node:fs';

interface Followed {
  readonly inode: number;
  readonly watcher: FSWatcher | null;
}

/**
 * Watches of single folders. One watch of a whole tree would be shorter, and ends the process when it meets a link in a circle or a folder
 * that it may not read. A folder that cannot be watched is not told of.
 */
export class FolderWatches {
  readonly #followed = new Map<string, Followed>();
  #changed: (() => void) | null = null;

  /** Watches what is followed, from now on. */
  start(changed: () => void): { close(): void } {
    this.#changed = changed;
    for (const [folder, { inode }] of [...this.#followed]) this.#watch(folder, inode);
    return {
      close: () => {
        this.#changed = null;
        this.keepOnly(new Set());
      },
    };
  }

  /** Another folder in the place of one that is followed is followed instead. */
  follow(folder: string, inode: number): void {
    if (this.#followed.get(folder)?.inode !== inode) this.#watch(folder, inode);
  }

  keepOnly(folders: ReadonlySet<string>): void {
    for (const folder of [...this.#followed.keys()]) if (!folders.has(folder)) this.#leave(folder);
  }

  #watch(folder: string, inode: number): void {
    this.#leave(folder);
    const changed = this.#changed;
    this.#followed.set(folder, { inode, watcher: changed && watchOrNull(folder, changed) });
  }

  #leave(folder: string): void {
    this.#followed.get(folder)?.watcher?.close();
    this.#followed.delete(folder);
  }
}

/** Null where the file system tells nothing, or has no watches left. */
function watchOrNull(folder: string, changed: () => void): FSWatcher | null {
  try {
    const watcher = watch(folder, { persistent: false }, changed);
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return null;
  }
}
