import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Views } from '@tidemark/libs-views-contract';
import { connectSqliteViews } from '@tidemark/libs-views-sql';

/** Views in a new file. */
export class ViewsFile {
  readonly views: Views;
  readonly file: string;
  readonly #folder: string;

  private constructor(folder: string, file: string, views: Views) {
    this.#folder = folder;
    this.file = file;
    this.views = views;
  }

  static async make(): Promise<ViewsFile> {
    const folder = mkdtempSync(path.join(tmpdir(), 'tidemark-bench-views-'));
    const file = path.join(folder, 'views.sqlite');
    return new ViewsFile(folder, file, await connectSqliteViews({ file }));
  }

  async remove(): Promise<void> {
    await this.views.close();
    rmSync(this.#folder, { recursive: true });
  }
}
