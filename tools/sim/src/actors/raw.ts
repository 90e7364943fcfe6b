import {
  type AttributeValue,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactGetItemsCommand,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { DynamoClient } from '@tidemark/libs-op-store-dynamodb';
import type { SequencedOp } from '@tidemark/libs-op-store-contract';
import { type Op, claimSeq } from '@tidemark/libs-wire';
import { itemOp, rawOpItem } from '../checkers/stored-op.ts';
import { TABLE } from '../world.ts';

/** The table as actors use it that are not the code under test: each of DynamoDB's calls, in the words of the protocol. */
export class RawTable {
  readonly #client: DynamoClient;
  readonly #stream: string;

  constructor(client: DynamoClient, stream: string) {
    this.#client = client;
    this.#stream = stream;
  }

  /** Ops above a seq that a strong Query sees. */
  async above(after: bigint): Promise<SequencedOp[]> {
    const items = await this.#query('stream_id = :sid AND seq > :after', { ':after': { N: String(after) } });
    return items.map((item) => ({ seq: BigInt(item['seq']?.N ?? ''), op: itemOp(item) }));
  }

  async counter(): Promise<bigint> {
    const items = await this.#query('stream_id = :sid AND seq = :zero', { ':zero': { N: '0' } });
    return counterOf(items[0]);
  }

  /** The newest op's seq; 0 when there is none. */
  async top(): Promise<bigint> {
    const items = await this.#query(
      'stream_id = :sid AND seq > :zero',
      { ':zero': { N: '0' } },
      { ScanIndexForward: false, Limit: 1 },
    );
    return BigInt(items[0]?.['seq']?.N ?? '0');
  }

  /** One item by GetItem; undefined when it is not there. */
  async get(seq: bigint): Promise<Item | undefined> {
    const got = await this.#client.send(
      new GetItemCommand({ TableName: TABLE, Key: this.#key(seq), ConsistentRead: true }),
    );
    return got.Item;
  }

  /** Several items of one moment; null when the read was refused. */
  async snapshot(seqs: readonly bigint[]): Promise<readonly (Item | undefined)[] | null> {
    const TransactItems = seqs.map((seq) => ({ Get: { TableName: TABLE, Key: this.#key(seq) } }));
    try {
      const { Responses = [] } = await this.#client.send(new TransactGetItemsCommand({ TransactItems }));
      return Responses.map(({ Item }) => Item);
    } catch (error) {
      if ((error as Error).name === 'TransactionCanceledException') return null;
      throw error;
    }
  }

  /** The claim of an op id, by a strong Query. */
  async claim(opId: string): Promise<bigint | null> {
    const items = await this.#query('stream_id = :sid AND seq = :claim', { ':claim': { N: String(claimSeq(opId)) } });
    return items[0] === undefined ? null : BigInt(items[0]['op_seq']?.N ?? '');
  }

  /** The ops at base + 1 and on, if the counter is as expected. `stored`, or the codes of the reasons. */
  async round(ops: readonly Op[], plan: RoundPlan): Promise<'stored' | 'unanswered' | readonly string[]> {
    try {
      await this.#client.send(new TransactWriteItemsCommand({ TransactItems: this.#actions(ops, plan) }));
      return 'stored';
    } catch (error) {
      const { CancellationReasons } = error as { CancellationReasons?: { Code: string }[] };
      return CancellationReasons?.map(({ Code }) => Code) ?? 'unanswered';
    }
  }

  /** How relays of the ADD era take a seq: by itself, before the write. */
  async add(): Promise<bigint> {
    const { Attributes } = await this.#client.send(
      new UpdateItemCommand({
        TableName: TABLE,
        Key: this.#key(0n),
        UpdateExpression: 'ADD next_seq :one',
        ExpressionAttributeValues: { ':one': { N: '1' } },
        ReturnValues: 'UPDATED_NEW',
      }),
    );
    return counterOf(Attributes);
  }

  async put(seq: bigint, op: Op): Promise<void> {
    const Item = rawOpItem(this.#stream, seq, op);
    const ConditionExpression = 'attribute_not_exists(stream_id)';
    await this.#client.send(new PutItemCommand({ TableName: TABLE, Item, ConditionExpression }));
  }

  #actions(ops: readonly Op[], { expected, base, check }: RoundPlan): TransactWriteItem[] {
    const absent = { TableName: TABLE, ConditionExpression: 'attribute_not_exists(stream_id)' };
    const condition = 'next_seq = :expected';
    const values = { ':seq': { N: String(base + BigInt(ops.length)) }, ':expected': { N: String(expected) } };
    const seq = (i: number) => base + BigInt(i) + 1n;
    return [
      {
        Update: {
          TableName: TABLE,
          Key: this.#key(0n),
          UpdateExpression: 'SET next_seq = :seq',
          ConditionExpression: expected === 0n ? `attribute_not_exists(next_seq) OR ${condition}` : condition,
          ExpressionAttributeValues: values,
        },
      },
      ...ops.map(({ opId }, i) => ({
        Put: { ...absent, Item: { ...this.#key(claimSeq(opId)), op_id: { S: opId }, op_seq: { N: String(seq(i)) } } },
      })),
      ...(check && base > 0n
        ? [
            {
              ConditionCheck: {
                TableName: TABLE,
                Key: this.#key(base),
                ConditionExpression: 'attribute_exists(stream_id)',
              },
            },
          ]
        : []),
      ...ops.map((op, i) => ({ Put: { ...absent, Item: rawOpItem(this.#stream, seq(i), op) } })),
    ];
  }

  async #query(condition: string, values: Item, more: object = {}): Promise<Item[]> {
    const items: Item[] = [];
    let start: Item | undefined;
    do {
      const { Items = [], LastEvaluatedKey } = await this.#client.send(
        new QueryCommand({
          TableName: TABLE,
          ConsistentRead: true,
          KeyConditionExpression: condition,
          ExpressionAttributeValues: { ':sid': { S: this.#stream }, ...values },
          ...(start === undefined ? {} : { ExclusiveStartKey: start }),
          ...more,
        }),
      );
      items.push(...Items);
      start = 'Limit' in more ? undefined : LastEvaluatedKey;
    } while (start !== undefined);
    return items;
  }

  #key(seq: bigint): Item {
    return { stream_id: { S: this.#stream }, seq: { N: String(seq) } };
  }
}

type Item = Record<string, AttributeValue>;

export interface RoundPlan {
  readonly expected: bigint;
  readonly base: bigint;
  readonly check: boolean;
}

export const counterOf = (item: Item | undefined) => BigInt(item?.['next_seq']?.N ?? '0');
