import { setTimeout } from 'node:timers/promises';
import { DeleteItemCommand, GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { DynamoClient, DynamoCommand, SendOptions } from '@tidemark/libs-driver-dynamodb';
import type { Clock, Sleeper } from '@tidemark/libs-kernel';
import { ManualTime, SeededRandom } from '@tidemark/libs-kernel/testing';
import type { OpStore } from '@tidemark/libs-op-store-contract';
import type { Op } from '@tidemark/libs-wire';
import type { HoleEnd, RoundEnd } from './metrics.ts';
import { type Item, itemKey, opItem } from './op-item.ts';
import { dynamoOpStore, type DynamoOpStoreOptions } from './op-store.ts';
import { type SpecTables, specTables } from './spec-tables.ts';

/** Time that passes by sleeping alone. */
export class SleptTime extends ManualTime {
  readonly slept: number[] = [];

  override async sleep(ms: number): Promise<void> {
    this.slept.push(ms);
    this.advance(ms);
  }
}

/** A stand-in answers about so much sooner than a database far away. */
const QUICKER = 8;

/** For stores that race each other for real: their waits are as much shorter as the answers are. */
export const QUICK_TIME: Clock & Sleeper = {
  now: () => Date.now(),
  monotonic: () => performance.now() * QUICKER,
  sleep: (ms, signal) => setTimeout(ms / QUICKER, undefined, { signal }).catch(() => {}),
};

// The input of any command, whose name is in its class alone.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type AnyCommand = DynamoCommand<any, any>;
export type Sent = { readonly name: string; readonly input: Readonly<Record<string, unknown>> };
/** Stands between a store and its table: passes the call on, or does not, or does something first. */
export type Between = (sent: Sent, pass: () => Promise<unknown>, options?: SendOptions) => Promise<unknown>;

/** A client that notes what is sent through it, in order. */
export class SpecClient implements DynamoClient {
  readonly sent: Sent[] = [];
  between: Between = (_, pass) => pass();
  readonly #client: DynamoClient;

  constructor(client: DynamoClient) {
    this.#client = client;
  }

  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  async send(command: AnyCommand, options?: SendOptions): Promise<any> {
    const sent = { name: command.constructor.name.replace(/Command$/, ''), input: command.input };
    this.sent.push(sent);
    // Passed on without its signal: a test may send it when nobody waits any more.
    return this.between(sent, () => this.#client.send(command), options);
  }

  /** How many of each were sent since the last time. */
  counts(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { name } of this.sent.splice(0)) counts[name] = (counts[name] ?? 0) + 1;
    return counts;
  }
}

export interface OpenedStore {
  readonly store: OpStore;
  readonly client: SpecClient;
  readonly time: SleptTime;
  readonly rounds: RoundEnd[];
  readonly holes: (readonly [HoleEnd, number])[];
  readonly logged: { readonly level: 'info' | 'warn'; readonly fields: object; readonly message: string }[];
  collisions: number;
}

/** Tokens of transactions are the server's: no two handles may make the same ones. */
let handles = 0;

/** Tables of its own in a stand-in, with whatever is opened on them. */
export class SpecStore {
  readonly tables: SpecTables;

  constructor(tables: SpecTables) {
    this.tables = tables;
  }

  static async make(endpoint: string): Promise<SpecStore> {
    return new SpecStore(await specTables(endpoint));
  }

  /** Another handle, as another process would open. */
  open(options: Partial<DynamoOpStoreOptions> = {}): OpenedStore {
    const client = new SpecClient(options.client ?? this.tables.client);
    const time = new SleptTime();
    const opened: Omit<OpenedStore, 'store'> = { client, time, rounds: [], holes: [], logged: [], collisions: 0 };
    const store = dynamoOpStore({
      table: this.tables.opsTable,
      clock: time,
      sleeper: time,
      random: new SeededRandom(++handles),
      log: {
        info: (fields, message) => void opened.logged.push({ level: 'info', fields, message }),
        warn: (fields, message) => void opened.logged.push({ level: 'warn', fields, message }),
      },
      metrics: {
        round: (end) => void opened.rounds.push(end),
        hole: (end, seqs) => void opened.holes.push([end, seqs]),
        collision: () => void opened.collisions++,
      },
      ...options,
      client,
    });
    return Object.assign(opened, { store });
  }

  put(item: Item): Promise<void> {
    return this.tables.put(this.tables.opsTable, item);
  }

  /** As an older writer would have left it: no claim, no counter. */
  plant(stream: string, seq: bigint, op: Op): Promise<void> {
    // What stands in `extra` is planted as it is, even where a writer would have left it out.
    return this.put({ ...opItem(stream, seq, op), extra: { S: op.extra } });
  }

  plantCounter(stream: string, next: bigint): Promise<void> {
    return this.put({ ...itemKey(stream, 0n), next_seq: { N: String(next) } });
  }

  async item(stream: string, seq: bigint): Promise<Item | undefined> {
    const command = new GetItemCommand({
      TableName: this.tables.opsTable,
      Key: itemKey(stream, seq),
      ConsistentRead: true,
    });
    return (await this.tables.client.send(command)).Item;
  }

  async remove(stream: string, seq: bigint): Promise<void> {
    const command = new DeleteItemCommand({ TableName: this.tables.opsTable, Key: itemKey(stream, seq) });
    await this.tables.client.send(command);
  }

  async counter(stream: string): Promise<string | undefined> {
    return (await this.item(stream, 0n))?.['next_seq']?.N;
  }
}
