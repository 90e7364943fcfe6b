import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodePush } from '@tidemark/libs-wire';
import { freePort } from '@tidemark/tools-services';
import { AckedLog } from './acked-log.ts';
import { freshOps, onAll, type Shape, type Writers } from './writers.ts';

const root = path.resolve(import.meta.dirname, '../../../..');
const PAGE = 5000;

interface Answer {
  readonly status: number;
  readonly seq: string;
  readonly text: string;
}

/** Pushes to a relay in a process of its own, as it is deployed. */
export class RelayWriters implements Writers {
  readonly name = 'relay over HTTP';
  readonly #shape: Shape;
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #port: number;
  readonly #agent: Agent;
  readonly #acked = new AckedLog();

  private constructor(shape: Shape, child: ChildProcess, folder: string, port: number) {
    this.#shape = shape;
    this.#child = child;
    this.#folder = folder;
    this.#port = port;
    this.#agent = new Agent({ keepAlive: true, maxSockets: shape.connections });
  }

  static async open(endpoint: string, shape: Shape): Promise<RelayWriters> {
    const { bundle } = await import(path.join(root, 'tools/launcher/bundle.mjs'));
    await bundle('apps/relay');
    const folder = await mkdtemp(path.join(tmpdir(), 'tidemark-bench-'));
    const port = await freePort();
    const settings = {
      RELAY_STORE: 'postgres',
      DATABASE_URL: endpoint,
      RELAY_ADDR: `127.0.0.1:${port}`,
      RELAY_INTAKE: 'off',
      TIDEMARK_DATA: folder,
    };
    const main = path.join(root, 'dist/apps/relay/main.js');
    const stdio = ['ignore', 'ignore', 'inherit'] as const;
    const child = spawn(process.execPath, [main], { env: { ...process.env, ...settings }, stdio: [...stdio] });
    const writers = new RelayWriters(shape, child, folder, port);
    while ((await writers.#ask('GET', '/streams/s/ops').catch(() => null))?.status !== 200) {
      if (child.exitCode !== null) throw new Error(`the relay ended with ${child.exitCode}`);
      await sleep(50);
    }
    return writers;
  }

  write(untilMs: number): Promise<number> {
    const { connections, streams, batch } = this.#shape;
    return onAll(connections, untilMs, async (connection) => {
      const [stream, ops] = [`s${connection % streams}`, freshOps(batch)];
      const { status, seq, text } = await this.#ask('POST', `/streams/${stream}/ops`, encodePush(ops));
      if (status !== 200) throw new Error(`a push was answered ${status}: ${text}`);
      this.#acked.note(
        stream,
        ops.map(({ opId }) => opId),
        BigInt(seq),
      );
      return batch;
    });
  }

  verify(): Promise<number> {
    return this.#acked.verify((stream) => this.#read(stream));
  }

  async close(): Promise<void> {
    this.#agent.destroy();
    this.#child.kill('SIGTERM');
    await once(this.#child, 'exit');
    await rm(this.#folder, { recursive: true });
  }

  async *#read(stream: string): AsyncIterable<readonly [bigint, string]> {
    for (let cursor = 0n; ;) {
      const { text } = await this.#ask('GET', `/streams/${stream}/ops?since=${cursor}&limit=${PAGE}`);
      const page = JSON.parse(text) as { ops: { op_id: string }[]; next: number };
      if (page.ops.length === 0) return;
      for (const { op_id } of page.ops) yield [++cursor, op_id];
    }
  }

  async #ask(method: string, place: string, body?: string): Promise<Answer> {
    const headers =
      body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const asked = request({ host: '127.0.0.1', port: this.#port, path: place, method, headers, agent: this.#agent });
    asked.end(body);
    const [answer] = (await once(asked, 'response')) as [import('node:http').IncomingMessage];
    let text = '';
    for await (const part of answer.setEncoding('utf8')) text += part;
    return { status: answer.statusCode ?? 0, seq: String(answer.headers['tidemark-seq']), text };
  }
}
