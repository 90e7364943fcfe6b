import {
  type AttributeValue,
  GetItemCommand,
  QueryCommand,
  type QueryCommandInput,
  type QueryCommandOutput,
} from '@aws-sdk/client-dynamodb';
import { mapError, type DynamoClient, type SendOptions } from '@tidemark/libs-driver-dynamodb';
import { type Claim, type Counter, type Item, itemKey, toClaim, toCounter, toSeq } from './op-item.ts';

export interface QueriedPage {
  readonly items: readonly Item[];
  /** Nothing lies behind the page. */
  readonly isLast: boolean;
}

/**
 * The reads of the ops table, each strongly consistent. A Query alone may show some items of a transaction that is being committed and not
 * others; what may be concluded from one is said where it is used. Faults: those of mapError.
 */
export class OpsTable {
  readonly client: DynamoClient;
  readonly name: string;

  constructor(client: DynamoClient, name: string) {
    this.client = client;
    this.name = name;
  }

  async counter(stream: string, options?: SendOptions): Promise<Counter> {
    // A Query, so that a writer that never had to read a claim back needs no right to GetItem.
    const { Items } = await this.#query(stream, 'seq = :a', { ':a': { N: '0' } }, {}, options);
    return toCounter(Items?.[0]);
  }

  /** Seq of the newest op; 0 when there is none. */
  async top(stream: string, options?: SendOptions): Promise<bigint> {
    const newest = { ScanIndexForward: false, Limit: 1, ...SEQ_ALONE };
    const { Items } = await this.#query(stream, 'seq > :a', { ':a': { N: '0' } }, newest, options);
    return Items?.[0] === undefined ? 0n : toSeq(Items[0]);
  }

  /** The claim under that key, whoever's it is. */
  async claim(stream: string, claimSeq: bigint, options?: SendOptions): Promise<Claim | null> {
    const command = new GetItemCommand({
      TableName: this.name,
      Key: itemKey(stream, claimSeq),
      ConsistentRead: true,
    });
    const { Item } = await this.client.send(command, options).catch((thrown: unknown) => this.#failed(thrown));
    return Item === undefined ? null : toClaim(Item);
  }

  /** Ops above `after`, ascending; at most `limit`, and at most 1 MB of them. */
  async opsAbove(stream: string, after: bigint, limit: number, options?: SendOptions): Promise<QueriedPage> {
    const values = { ':a': { N: String(after) } };
    const answer = await this.#query(stream, 'seq > :a', values, { Limit: limit }, options);
    return { items: answer.Items ?? [], isLast: answer.LastEvaluatedKey === undefined };
  }

  /** Seqs of ops above `after`, ascending, at most `limit`. */
  async seqsAbove(stream: string, after: bigint, limit: number): Promise<readonly bigint[]> {
    const values = { ':a': { N: String(after) } };
    const { Items = [] } = await this.#query(stream, 'seq > :a', values, { Limit: limit, ...SEQ_ALONE });
    return Items.map(toSeq);
  }

  /** Ops of a range, ascending, at most 1 MB of them, and of each only its key and, where asked for, more attributes. */
  async keysBetween(
    stream: string,
    from: bigint,
    to: bigint,
    more: readonly string[] = [],
    options?: SendOptions,
  ): Promise<QueriedPage> {
    const values = { ':a': { N: String(from) }, ':b': { N: String(to) } };
    const projection = { ProjectionExpression: ['stream_id', 'seq', ...more].join(', ') };
    const answer = await this.#query(stream, 'seq BETWEEN :a AND :b', values, projection, options);
    return { items: answer.Items ?? [], isLast: answer.LastEvaluatedKey === undefined };
  }

  /** How many ops there are up to that seq. */
  async countUpTo(stream: string, to: bigint): Promise<bigint> {
    let ops = 0n;
    if (to < 1n) return ops;
    const values = { ':a': { N: '1' }, ':b': { N: String(to) } };
    for (let from: Item | undefined; ;) {
      const rest = { Select: 'COUNT' as const, ...(from === undefined ? {} : { ExclusiveStartKey: from }) };
      const answer = await this.#query(stream, 'seq BETWEEN :a AND :b', values, rest);
      ops += BigInt(answer.Count ?? 0);
      from = answer.LastEvaluatedKey;
      if (from === undefined) return ops;
    }
  }

  #query(
    stream: string,
    seqs: string,
    values: Readonly<Record<string, AttributeValue>>,
    rest: Partial<QueryCommandInput>,
    options?: SendOptions,
  ): Promise<QueryCommandOutput> {
    const command = new QueryCommand({
      TableName: this.name,
      KeyConditionExpression: `stream_id = :stream AND ${seqs}`,
      ExpressionAttributeValues: { ':stream': { S: stream }, ...values },
      ConsistentRead: true,
      ...rest,
    });
    return this.client.send(command, options).catch((thrown: unknown) => this.#failed(thrown));
  }

  #failed(thrown: unknown): never {
    throw mapError(thrown, this.name);
  }
}

const SEQ_ALONE = { ProjectionExpression: 'stream_id, seq' };
