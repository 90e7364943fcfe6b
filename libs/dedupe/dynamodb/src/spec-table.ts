/** What the specs of this folder share: a table of its own in a stand-in, stores on it, and clients that are watched or scripted. */
import { randomUUID } from 'node:crypto';
import { DeleteTableCommand, DynamoDBClient, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import type { Claim, DedupeKey, Deduplicator } from '@tidemark/libs-dedupe-contract';
import type { Clock, Sleeper } from '@tidemark/libs-kernel';
import { ManualTime, SeededRandom } from '@tidemark/libs-kernel/testing';
import type { OwnClient } from './client.ts';
import { type DynamodbDedupeParts, dynamodbDeduplicator } from './dynamodb-deduplicator.ts';
import type { DynamodbDedupeMetrics } from './metrics.ts';
import { type Item, createDedupeTable } from './table.ts';

export const LEASE_MS = 30_000;

/** Stand-ins take any credentials, but want some. */
export const SPEC_AWS = { region: 'us-east-1', credentials: { accessKeyId: 'spec', secretAccessKey: 'spec' } };

const opened = new Set<DynamoDBClient>();
afterAll(() => opened.forEach((client) => client.destroy()));

export function specClient(endpoint: string): DynamoDBClient {
  const client = new DynamoDBClient({ ...SPEC_AWS, endpoint, maxAttempts: 1 });
  opened.add(client);
  return client;
}

/** A table of its own in a stand-in, for one test. */
export class SpecTable {
  readonly name = `dedupe_${randomUUID()}`;
  readonly time = new ManualTime();
  readonly client: DynamoDBClient;

  private constructor(client: DynamoDBClient) {
    this.client = client;
  }

  static async make(endpoint: string): Promise<SpecTable> {
    const table = new SpecTable(specClient(endpoint));
    await createDedupeTable(table.client, table.name, { sleep: async () => {} });
    return table;
  }

  open(parts: Partial<DynamodbDedupeParts> = {}): Promise<Deduplicator> {
    return openStore(watched(this.client), this.time, { table: this.name, ...parts });
  }

  async items(): Promise<Item[]> {
    const { Items = [] } = await this.client.send(new ScanCommand({ TableName: this.name, ConsistentRead: true }));
    return Items;
  }

  async put(Item: Item): Promise<void> {
    await this.client.send(new PutItemCommand({ TableName: this.name, Item }));
  }

  async drop(): Promise<void> {
    await this.client.send(new DeleteTableCommand({ TableName: this.name }));
  }
}

let stores = 0;

export function openStore(
  client: OwnClient,
  time: ManualTime,
  parts: Partial<DynamodbDedupeParts> = {},
): Promise<Deduplicator> {
  return dynamodbDeduplicator({
    client,
    table: 'ids',
    clock: time,
    sleeper: withoutWaits(time),
    random: new SeededRandom(++stores),
    log: new RecordedLog(),
    metrics: new RecordedMetrics(),
    ...parts,
  });
}

/** Waits between two attempts end at once; deadlines and the waits between two looks at the table are the test's. */
export function withoutWaits(time: ManualTime): Sleeper {
  return { sleep: (ms, signal) => (ms < 250 ? Promise.resolve() : time.sleep(ms, signal)) };
}

/** A clock that is ahead of the true time, or behind it. */
export function skewed(time: ManualTime, byMs: number): Clock {
  return { now: () => time.now() + byMs, monotonic: () => time.monotonic() };
}

/** One call as it was sent: `PutItem` and its input. */
export interface SentCall {
  readonly name: string;
  // Inputs of all commands, looked at by tests that know which one it is.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly input: any;
}

/** Sees every call; what it throws or answers comes instead of the client's answer. */
export type Script = (call: SentCall, abortSignal: AbortSignal | undefined) => unknown;

/** The client, which stays open. */
export function watched(client: OwnClient, script: Script = () => undefined): OwnClient {
  return {
    send: async (command, options) => {
      const call = { name: command.constructor.name.replace(/Command$/, ''), input: command.input };
      const answer = await script(call, options?.abortSignal);
      return answer === undefined ? client.send(command, options) : (answer as never);
    },
    destroy: () => {},
  };
}

/** A table without a server: the check at the start finds it right, everything else is as the script says, else done. */
export class ScriptedTable {
  readonly time = new ManualTime();
  /** What was sent after the check. */
  readonly sent: SentCall[] = [];
  readonly #script: Script;

  constructor(script: Script = () => undefined) {
    this.#script = script;
  }

  async open(parts: Partial<DynamodbDedupeParts> = {}): Promise<Deduplicator> {
    const rightTable: OwnClient = {
      send: async ({ constructor }) => RIGHT[constructor.name] as never,
      destroy() {},
    };
    let isOpen = false;
    const client = watched(rightTable, (call, signal) => {
      if (!isOpen) return undefined;
      this.sent.push(call);
      return this.#script(call, signal) ?? undefined;
    });
    const store = await openStore(client, this.time, parts);
    isOpen = true;
    return store;
  }

  /** Keys of every call of that name, in order. */
  keys(name: 'PutItem' | 'DeleteItem'): string[] {
    return this.sent.filter((call) => call.name === name).map((call) => keyNameOf(call));
  }
}

const RIGHT: Readonly<Record<string, unknown>> = {
  DescribeTableCommand: {
    Table: {
      TableStatus: 'ACTIVE',
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
    },
  },
  DescribeTimeToLiveCommand: { TimeToLiveDescription: { TimeToLiveStatus: 'ENABLED', AttributeName: 'ex' } },
  PutItemCommand: {},
  DeleteItemCommand: {},
  BatchWriteItemCommand: {},
};

/** The id that a put or a delete is about. */
export function keyNameOf({ input }: SentCall): string {
  return ((input.Item ?? input.Key).pk.S as string).replace('acme/clicks/', '');
}

/** An error as the SDK throws it. */
export function sdkError(name: string, more: object = {}): Error {
  return Object.assign(new Error(`${name} at 10.0.0.1`), { name, $metadata: { httpStatusCode: 400 }, ...more });
}

export const throttle = () => sdkError('ProvisionedThroughputExceededException');

export function conditionFailed(held?: Item): Error {
  return sdkError('ConditionalCheckFailedException', held && { Item: held });
}

export function keyOf(id: string): DedupeKey {
  return { tenant: 'acme', table: 'clicks', id };
}

export function keysOf(count: number): DedupeKey[] {
  return Array.from({ length: count }, (_, i) => keyOf(`${i}`));
}

export function statuses(claims: readonly Claim[]): string[] {
  return claims.map(({ status }) => status);
}

export class RecordedMetrics implements DynamodbDedupeMetrics {
  /** `put_item ok`. */
  readonly requests: string[] = [];
  readonly hashed: string[] = [];
  unprocessedItems = 0;
  shortCircuits = 0;

  request(...[operation, outcome]: Parameters<DynamodbDedupeMetrics['request']>): void {
    this.requests.push(`${operation} ${outcome}`);
  }

  unprocessed(items: number): void {
    this.unprocessedItems += items;
  }

  shortCircuit(): void {
    this.shortCircuits++;
  }

  hashedId(table: string): void {
    this.hashed.push(table);
  }
}

export class RecordedLog {
  readonly warnings: string[] = [];
  readonly infos: string[] = [];

  info(_fields: object, message: string): void {
    this.infos.push(message);
  }

  warn(_fields: object, message: string): void {
    this.warnings.push(message);
  }
}
