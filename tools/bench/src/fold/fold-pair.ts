import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { anOp } from '@tidemark/libs-op-store-contract/testing';
import { encodePush } from '@tidemark/libs-wire';
import { IdleProcess } from '../idle/idle-process.ts';
import { Connection } from '../sqlite/connection.ts';

const root = path.resolve(import.meta.dirname, '../../../..');
const STREAM = '0.events';

/** A relay and a fold worker in processes of their own. */
export class FoldPair {
  readonly name: string;
  readonly #folder: string;
  readonly #relay: IdleProcess;
  readonly #fold: IdleProcess;
  readonly #pushes: Connection;
  readonly #reads: Connection;
  #pushed = 0;

  private constructor(
    name: string,
    folder: string,
    processes: readonly [IdleProcess, IdleProcess],
    connections: readonly [Connection, Connection],
  ) {
    this.name = name;
    this.#folder = folder;
    [this.#relay, this.#fold] = processes;
    [this.#pushes, this.#reads] = connections;
  }

  static async open(name: string, settings: Readonly<Record<string, string>>): Promise<FoldPair> {
    const { bundle } = await import(path.join(root, 'tools/launcher/bundle.mjs'));
    await bundle('apps/relay');
    await bundle('apps/fold-worker');
    const folder = mkdtempSync(path.join(tmpdir(), 'tidemark-bench-'));
    const of = (prefix: string) =>
      Object.fromEntries(
        Object.entries(settings).filter(([key]) => key.startsWith(prefix) || !/^(RELAY|FOLD)_/.test(key)),
      );
    const entry = (app: string) => path.join(root, 'dist/apps', app, 'main.js');
    const relay = await IdleProcess.start(entry('relay'), { TIDEMARK_DATA: folder, ...of('RELAY_') });
    const fold = await IdleProcess.start(entry('fold-worker'), { TIDEMARK_DATA: folder, ...of('FOLD_') });
    return new FoldPair(
      name,
      folder,
      [relay, fold],
      [await Connection.open(relay.url), await Connection.open(fold.url)],
    );
  }

  /** Milliseconds from the answer of a push to the answer of a reader that waits for its seq. */
  async appendAndWait(): Promise<number> {
    const n = ++this.#pushed;
    const op = anOp({
      opId: `op-${n}`,
      domain: 'event',
      targetKind: 'events',
      targetId: `id-${n}`,
      field: 'body',
      opType: 'set',
      value: `{"n":${n}}`,
      lamport: BigInt(n),
    });
    const pushed = await this.#pushes.post(`/streams/${STREAM}/ops`, encodePush([op]));
    if (pushed.status !== 200) throw new Error(`${this.name}: the push was answered ${pushed.status}`);
    const startMs = performance.now();
    const seen = await this.#reads.get(`/v1/streams/${STREAM}/watermark?min_seq=${n}&wait=50`);
    const ms = performance.now() - startMs;
    if (seen.status !== 200) throw new Error(`${this.name}: the reader was answered ${seen.status}: ${seen.body}`);
    return ms;
  }

  /** How many documents hold what their op wrote. */
  async folded(): Promise<number> {
    let right = 0;
    for (let after = ''; ;) {
      const from = after === '' ? '' : `&after=${after}`;
      const { body } = await this.#reads.get(`/v1/streams/${STREAM}/documents/events?limit=500${from}`);
      const page = JSON.parse(body.toString()) as {
        documents: { id: string; fields: { body: { n: number } } }[];
        next: string | null;
      };
      right += page.documents.filter(({ id, fields }) => id === `id-${fields.body.n}`).length;
      if (page.next === null) return right;
      after = page.next;
    }
  }

  async close(): Promise<void> {
    this.#pushes.close();
    this.#reads.close();
    await this.#fold.stop();
    await this.#relay.stop();
    rmSync(this.#folder, { recursive: true });
  }
}
