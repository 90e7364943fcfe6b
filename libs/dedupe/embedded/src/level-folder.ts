import { ClassicLevel } from 'classic-level';
import { mapError } from './map-error.ts';

export type Put = { readonly type: 'put'; readonly key: string; readonly value: Uint8Array };
export type Del = { readonly type: 'del'; readonly key: string };

type Level = ClassicLevel<string, Uint8Array>;

/**
 * A LevelDB folder whose errors are faults, and which is opened anew after a failed write.
 *
 * The reopening is what keeps DDP-3 on a disk that was full: a failed append may leave half a record in LevelDB's log while LevelDB
 * believes that the whole of it is there. What is appended later, fsynced and acknowledged, then stands behind a torn record and is
 * dropped by the next recovery. Opening replays the log up to the tear and starts a new one.
 */
export class LevelFolder {
  readonly folder: string;
  /** Undefined: to be opened before the next use. */
  #level: Promise<Level> | undefined;
  #abandoned: Promise<void> = Promise.resolve();

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async open(folder: string): Promise<LevelFolder> {
    const opened = new LevelFolder(folder);
    await opened.#usable();
    return opened;
  }

  /** One snapshot for all keys. */
  getMany(keys: readonly string[]): Promise<(Uint8Array | undefined)[]> {
    return this.#read((level) => level.getMany([...keys]));
  }

  /** At most `limit` entries whose key sorts after `after`. Leaves the block cache to the reserves. */
  scan(after: string, limit: number): Promise<[string, Uint8Array][]> {
    return this.#read((level) => level.iterator({ gt: after, limit, fillCache: false }).all());
  }

  /** Of the files; what was written last may not be among them. */
  approximateBytes(): Promise<number> {
    return this.#read((level) => level.approximateSize('', '\u{10ffff}'));
  }

  /** Atomic; on disk when it resolves, if `sync`. One at a time: only JoinedWrites calls it once the folder is in use. */
  async write(operations: readonly (Put | Del)[], { sync }: { readonly sync: boolean }): Promise<void> {
    const level = await this.#usable();
    try {
      await level.batch([...operations], { sync });
    } catch (thrown) {
      this.#abandon(level);
      throw mapError(thrown, this.folder, 'unknown');
    }
  }

  /** Rejects while the folder cannot be used. */
  async probe(): Promise<void> {
    await this.getMany(['!probe']);
  }

  async close(): Promise<void> {
    const level = await this.#level?.catch(() => undefined);
    await level?.close();
    await this.#abandoned;
  }

  async #read<T>(work: (level: Level) => Promise<T>): Promise<T> {
    const level = await this.#usable();
    try {
      return await work(level);
    } catch (thrown) {
      throw mapError(thrown, this.folder);
    }
  }

  #usable(): Promise<Level> {
    return (this.#level ??= this.#open());
  }

  async #open(): Promise<Level> {
    await this.#abandoned;
    try {
      const level: Level = new ClassicLevel(this.folder, { keyEncoding: 'utf8', valueEncoding: 'view' });
      await level.open();
      return level;
    } catch (thrown) {
      this.#level = undefined;
      throw mapError(thrown, this.folder);
    }
  }

  #abandon(level: Level): void {
    this.#level = undefined;
    this.#abandoned = level.close().catch(() => {});
  }
}
