import { encodePush } from '@tidemark/libs-wire';
import { IdleProcess } from '../idle/idle-process.ts';
import { AckedLog } from '../postgres/acked-log.ts';
import { freshOps, onAll } from '../postgres/writers.ts';
import { Connection } from './connection.ts';

const CONNECTIONS = 64;
const PAGE = 5000;

/** Connections that push to one relay process, each to a stream of its own, so that nothing but the store joins them. */
export class RelayPushes {
  readonly name: string;
  readonly #relay: IdleProcess;
  readonly #connections: readonly Connection[];
  readonly #acked = new AckedLog();

  private constructor(name: string, relay: IdleProcess, connections: readonly Connection[]) {
    this.name = name;
    this.#relay = relay;
    this.#connections = connections;
  }

  static async open(name: string, entry: string): Promise<RelayPushes> {
    const relay = await IdleProcess.start(entry);
    const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => Connection.open(relay.url)));
    return new RelayPushes(name, relay, connections);
  }

  /** Pushes so many ops at a time on each connection until then; answers how many ops. */
  push(batch: number, untilMs: number, connections = CONNECTIONS): Promise<number> {
    return onAll(connections, untilMs, async (i) => {
      const ops = freshOps(batch);
      const answer = await (this.#connections[i] as Connection).post(`/streams/s${i}/ops`, encodePush(ops));
      if (answer.status !== 200) throw new Error(`${this.name} answered ${answer.status}: ${answer.body}`);
      const last = BigInt(/tidemark-seq: (\d+)/i.exec(answer.head)?.[1] as string);
      this.#acked.note(
        `s${i}`,
        Array.from(ops, ({ opId }) => opId),
        last,
      );
      return batch;
    });
  }

  verify(): Promise<number> {
    return this.#acked.verify((stream) => this.#read(stream));
  }

  async close(): Promise<void> {
    for (const connection of this.#connections) connection.close();
    await this.#relay.stop();
  }

  async *#read(stream: string): AsyncIterable<readonly [bigint, string]> {
    // A new one: those that pushed may have been idle for longer than the relay keeps them.
    const connection = await Connection.open(this.#relay.url);
    for (let cursor = 0n; ;) {
      const { body } = await connection.get(`/streams/${stream}/ops?since=${cursor}&limit=${PAGE}`);
      const { ops } = JSON.parse(body.toString()) as { ops: { op_id: string }[] };
      if (ops.length === 0) return connection.close();
      for (const { op_id } of ops) yield [++cursor, op_id];
    }
  }
}
