/** Processes on one store that the specs watch and kill. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { SeededRandom } from '@tidemark/libs-kernel/testing';
import type { OpStore } from '@tidemark/libs-op-store-contract';
import { anOp } from '@tidemark/libs-op-store-contract/testing';

/** A store that processes of their own open. */
export interface SharedStore {
  /** The lines that import what opens the store and make `stores` of `place`, `clock`, `random` and `sleeper`. */
  readonly script: string;
  /** Where it is, for one process to tell another. */
  readonly place: string;
  open(): Promise<{ readonly opStore: OpStore }>;
}

/** What every child begins with: `stores`, `name`, and `say`, which has written its line before it returns, also to a full pipe. */
const prelude = ({ script }: SharedStore) => `
  import { writeSync } from 'node:fs';
  import { setTimeout } from 'node:timers/promises';
  import { anOp } from '@tidemark/libs-op-store-contract/testing';
  const [place, name] = process.argv.slice(1);
  const clock = { now: () => Date.now(), monotonic: () => performance.now() };
  const random = { bytes: (n) => crypto.getRandomValues(new Uint8Array(n)), fraction: () => Math.random() };
  const sleeper = { sleep: (ms) => setTimeout(ms) };
  ${script}
  const say = (...words) => {
    let left = Buffer.from(words.join(' ') + '\\n');
    while (left.length > 0)
      try {
        left = left.subarray(writeSync(1, left));
      } catch ({ code }) {
        if (code !== 'EAGAIN') throw code;
      }
  };
`;

/**
 * Four writers in each of two streams, for ever: every push is said with its seqs once it is answered. One that fails is pushed again
 * where failures are expected.
 */
const writeForEver = (pauseMs: number, mayFail = false) => `
  for (const stream of ['s', 't'])
    for (const writer of [1, 2, 3, 4])
      void (async () => {
        for (let i = 0; ; i++) {
          const ops = Array.from({ length: 1 + (i % 3) }, (_, k) =>
            anOp({ opId: [name, writer, i, k].join('-'), value: 'v'.repeat(i % 900) }));
          let outcomes;
          while (outcomes === undefined)
            try {
              outcomes = await stores.opStore.append(stream, ops);
            } catch (fault) {
              if (!${mayFail}) throw fault;
              await setTimeout(20);
            }
          say(stream, ...ops.map(({ opId }, k) => opId + '=' + outcomes[k].seq));
          if (${pauseMs} > 0) await setTimeout(${pauseMs});
        }
      })();`;

export type Child = ChildProcessByStdio<null, Readable, null>;

export function startNode(store: SharedStore, script: string, name: string, under: readonly string[] = []): Child {
  const options = ['--conditions=@tidemark/source', '--input-type=module', '--eval', prelude(store) + script];
  const [command = '', ...args] = [...under, process.execPath, ...options, store.place, name];
  return spawn(command, args, { cwd: __dirname, stdio: ['ignore', 'pipe', 'inherit'] });
}

/** The words of every line that the child says until it ends. */
export async function linesOf(child: Child, onLine: (count: number) => void = () => {}): Promise<string[][]> {
  const lines: string[][] = [];
  const ended = once(child, 'exit');
  for await (const line of createInterface(child.stdout)) onLine(lines.push(line.split(' ')));
  await ended;
  return lines;
}

/** Op ids with the seqs that they were answered, by stream. */
export class Answered {
  readonly #streams = new Map<string, AnsweredOps>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add([stream = '', ...pairs]: readonly string[]): void {
    const ops = this.#streams.get(stream) ?? new AnsweredOps(stream);
    this.#streams.set(stream, ops);
    for (const pair of pairs) {
      const [opId = '', seq = ''] = pair.split('=');
      ops.seqs.set(opId, BigInt(seq));
      this.#count++;
    }
  }

  /**
   * Every answered op is stored at its seq, seqs are dense, and a repeat of the latest ops is answered the same seqs. Unless `anew`, what was
   * found well before is not looked at again.
   */
  async verify(store: SharedStore, anew = false): Promise<void> {
    const { opStore } = await store.open();
    for (const ops of this.#streams.values()) await ops.verify(opStore, anew);
    await opStore.close();
  }
}

class AnsweredOps {
  readonly seqs = new Map<string, bigint>();
  readonly #stream: string;
  /** Up to this seq, and so many of the answered, all is well. */
  #upTo = 0n;
  #answered = 0;

  constructor(stream: string) {
    this.#stream = stream;
  }

  async verify(opStore: OpStore, anew: boolean): Promise<void> {
    if (anew) [this.#upTo, this.#answered] = [0n, 0];
    const stored = await this.#read(opStore);
    const answered = [...this.seqs].slice(this.#answered);
    expect(answered.filter(([opId, seq]) => stored.get(opId) !== seq)).toEqual([]);
    const latest = answered.slice(-1000).map(([opId]) => opId);
    const again = await opStore.append(
      this.#stream,
      latest.map((opId) => anOp({ opId })),
    );
    expect(again).toEqual(latest.map((opId) => ({ kind: 'existing', seq: this.seqs.get(opId) })));
    this.#answered = this.seqs.size;
  }

  /** Where the ops stand that were not looked at before. */
  async #read(opStore: OpStore): Promise<Map<string, bigint>> {
    const stored = new Map<string, bigint>();
    for (;;) {
      const { ops, next } = await opStore.read(this.#stream, this.#upTo, 1000);
      if (ops.length === 0) return stored;
      expect(ops.map(({ seq }) => seq)).toEqual(ops.map((_, i) => this.#upTo + BigInt(i + 1)));
      for (const { seq, op } of ops) stored.set(op.opId, seq);
      this.#upTo = next;
    }
  }
}

/** Kills a writing process so often, each after a random number of answers. */
export async function killWriters(store: SharedStore, kills: number, answered: Answered): Promise<void> {
  const random = new SeededRandom(6);
  for (let kill = 0; kill < kills; kill++) {
    const writer = startNode(store, writeForEver(0), `life-${kill}`);
    const fatal = 1 + Math.floor(random.fraction() * 80);
    for (const line of await linesOf(writer, (count) => count === fatal && writer.kill('SIGKILL'))) answered.add(line);
    await answered.verify(store);
  }
  await answered.verify(store, true);
}

export interface Beside {
  /** Resolves when it has been answered so often in all. */
  answers(count: number): Promise<void>;
  /** Kills it. */
  stop(): Promise<void>;
}

/** Writes into the same streams beside what else happens, with pauses, until it is stopped; of a store that fails it tries again. */
export function writeBeside(store: SharedStore, answered: Answered, name = 'beside'): Beside {
  const child = startNode(store, writeForEver(100, true), name);
  let [count, heard] = [0, () => {}];
  child.once('exit', () => heard());
  const lines = linesOf(child, (said) => {
    count = said;
    heard();
  });
  return {
    async answers(wanted) {
      while (count < wanted) {
        if (child.exitCode !== null) throw new Error(`${name} has ended with ${child.exitCode}`);
        await new Promise<void>((resolve) => (heard = resolve));
      }
    },
    async stop() {
      child.kill('SIGKILL');
      for (const line of await lines) answered.add(line);
    },
  };
}
