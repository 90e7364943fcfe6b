/** What the specs of this folder share: stores in temporary folders, and windows of keys. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Claim, DedupeKey, Deduplicator } from '@tidemark/libs-dedupe-contract';
import { ManualTime, SeededRandom } from '@tidemark/libs-kernel/testing';
import { type EmbeddedDedupeOptions, connectEmbeddedDeduplicator } from './connect.ts';

/** Opens stores in one temporary folder; `end` closes what is open and removes the folder. */
export class SpecFolder {
  readonly time = new ManualTime();
  readonly path: string;
  readonly #opened: Deduplicator[] = [];

  private constructor(path: string) {
    this.path = path;
  }

  static async make(): Promise<SpecFolder> {
    return new SpecFolder(await mkdtemp(join(tmpdir(), 'tidemark-dedupe-')));
  }

  async open(options: Partial<EmbeddedDedupeOptions> = {}): Promise<Deduplicator> {
    const { path: folder, time } = this;
    const random = new SeededRandom(this.#opened.length);
    const store = await connectEmbeddedDeduplicator({ folder, clock: time, sleeper: time, random, ...options });
    this.#opened.push(store);
    return store;
  }

  /** Opens a folder that another process has left: what it holds is not known yet, so that every reserve reads. */
  async reopen(options: Partial<EmbeddedDedupeOptions> = {}): Promise<Deduplicator> {
    await (await this.open()).close();
    return this.open(options);
  }

  async end(): Promise<void> {
    for (const store of this.#opened) await store.close();
    await rm(this.path, { recursive: true, force: true });
  }
}

export function keyOf(id: string): DedupeKey {
  return { tenant: 'acme', table: 'clicks', id };
}

/** Different keys for each n. */
export function windowOf(n: number, keys = 16): DedupeKey[] {
  return Array.from({ length: keys }, (_, i) => keyOf(`${n}-${i}`));
}

export function statuses(claims: readonly Claim[]): string[] {
  return claims.map((claim) => claim.status);
}
