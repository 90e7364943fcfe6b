import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Op, decodePage, encodePush } from '@tidemark/libs-wire';
import { freePort } from '@tidemark/tools-services';
import { PushedChains, opsOf } from './pushed-chains.ts';

const root = path.resolve(import.meta.dirname, '../../../..');
const PAGE = 1000;

export interface PairShape {
  readonly writers: number;
  /** Ops in a push. */
  readonly batch: number;
}

interface Relay {
  readonly child: ChildProcess;
  readonly port: number;
}

/** Two relays in processes of their own on one pair of tables; half of the writers push to each, all to one stream. */
export class RelayPair {
  readonly name: string;
  readonly #shape: PairShape;
  readonly #folder: string;
  readonly #relays: readonly Relay[];
  readonly #agent = new Agent({ keepAlive: true });
  readonly #pushed = new PushedChains();
  readonly #next: number[];

  private constructor(name: string, shape: PairShape, folder: string, relays: readonly Relay[]) {
    this.name = name;
    this.#shape = shape;
    this.#folder = folder;
    this.#relays = relays;
    this.#next = Array.from({ length: shape.writers }, () => 0);
  }

  static async open(name: string, settings: Record<string, string>, shape: PairShape): Promise<RelayPair> {
    const { bundle } = await import(path.join(root, 'tools/launcher/bundle.mjs'));
    await bundle('apps/relay');
    const folder = await mkdtemp(path.join(tmpdir(), 'tidemark-bench-'));
    const relays: Relay[] = [];
    for (let i = 0; i < 2; i++) {
      const port = await freePort();
      const own = { RELAY_ADDR: `127.0.0.1:${port}`, RELAY_INTAKE: 'off', RELAY_PUSH_DEADLINE_SECS: '300' };
      const env = { ...process.env, TIDEMARK_DATA: folder, RELAY_CONTENTION_ROUNDS: '10000', ...own, ...settings };
      const main = path.join(root, 'dist/apps/relay/main.js');
      relays.push({ child: spawn(process.execPath, [main], { env, stdio: ['ignore', 'ignore', 'inherit'] }), port });
    }
    const pair = new RelayPair(name, shape, folder, relays);
    for (const { child, port } of relays) {
      while ((await pair.#ask(port, 'GET', '/readyz').catch(() => null))?.status !== 200) {
        if (child.exitCode !== null) throw new Error(`the relay ended with ${child.exitCode}`);
        await sleep(50);
      }
    }
    return pair;
  }

  /** So many pushes by each writer, one after another; answers how many ops. */
  async push(pushes: number): Promise<number> {
    const { writers, batch } = this.#shape;
    const push = async (writer: number): Promise<void> => {
      const { port } = this.#relays[writer % 2] as Relay;
      const from = this.#next[writer] as number;
      const ops = opsOf(writer, from, batch);
      this.#next[writer] = from + batch;
      const answer = await this.#ask(port, 'POST', '/streams/s/ops', encodePush(ops));
      if (answer.status !== 200) throw new Error(`a push was answered ${answer.status}: ${answer.bytes.toString()}`);
      this.#pushed.note(ops, BigInt(answer.seq));
    };
    await Promise.all(
      Array.from({ length: writers }, async (_, writer) => {
        for (let n = 0; n < pushes; n++) await push(writer);
      }),
    );
    return writers * pushes * batch;
  }

  verify(): Promise<number> {
    return this.#pushed.verify(this.#read());
  }

  async close(): Promise<void> {
    this.#agent.destroy();
    for (const { child } of this.#relays) child.kill('SIGTERM');
    await Promise.all(this.#relays.map(({ child }) => child.exitCode ?? once(child, 'exit')));
    await rm(this.#folder, { recursive: true });
  }

  async *#read(): AsyncIterable<readonly [bigint, Op]> {
    const { port } = this.#relays[0] as Relay;
    for (let since = 0n; ;) {
      const { bytes } = await this.#ask(port, 'GET', `/streams/s/ops?since=${since}&limit=${PAGE}`);
      const { ops, next } = decodePage(bytes);
      if (next === since) return;
      // Nothing is burned, so a page's ops stand one after another.
      for (const op of ops) yield [++since, op];
      since = next;
    }
  }

  async #ask(port: number, method: string, place: string, body?: string | Uint8Array) {
    const json = { 'content-type': 'application/json' };
    const headers = body === undefined ? {} : { ...json, 'content-length': Buffer.byteLength(body) };
    const asked = request({ host: '127.0.0.1', port, path: place, method, headers, agent: this.#agent });
    asked.end(body);
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    const bytes = Buffer.concat(await answer.toArray());
    return { status: answer.statusCode ?? 0, seq: String(answer.headers['tidemark-seq']), bytes };
  }
}
