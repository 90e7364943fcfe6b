import {
  type AttributeValue,
  BatchGetItemCommand,
  DeleteItemCommand,
  GetItemCommand,
  QueryCommand,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { mapError, mapWriteError, nameOf, type DynamoClient } from '@tidemark/libs-driver-dynamodb';
import { Fault } from '@tidemark/libs-kernel';
import { type Item, type SortKeys, keyOf } from './keys.ts';
import { isTooLarge } from './too-large.ts';

/** `refused`: the condition did not hold on the item as it was, or on none. */
export type Updated = { readonly kind: 'written' } | { readonly kind: 'refused'; readonly item: Item | undefined };

export interface Update {
  readonly set: string;
  readonly condition?: string;
  readonly names?: Readonly<Record<string, string>>;
  readonly values?: Readonly<Record<string, AttributeValue>>;
}

export interface Page {
  readonly items: readonly Item[];
  readonly next: Item | undefined;
}

/** A BatchGetItem takes so many keys. */
const KEYS_MAX = 100;
/** What it leaves over is asked for again, so often without an answer for any. */
const EMPTY_ANSWERS_MAX = 5;

/** The requests that are sent to the one table. Every read is strong. */
export class ViewsTable {
  readonly name: string;
  readonly #client: DynamoClient;

  constructor(client: DynamoClient, name: string) {
    this.#client = client;
    this.name = name;
  }

  async get(stream: string, sk: string, only?: string): Promise<Item | undefined> {
    const part = only === undefined ? {} : { ProjectionExpression: only };
    const input = { TableName: this.name, Key: keyOf(stream, sk), ConsistentRead: true, ...part };
    return (await this.#read(() => this.#client.send(new GetItemCommand(input)))).Item;
  }

  /** Those that are there, in no order. */
  async getAll(keys: readonly Item[]): Promise<Item[]> {
    const found: Item[] = [];
    let left = [...keys];
    for (let empty = 0; left.length > 0;) {
      const RequestItems = { [this.name]: { Keys: left.slice(0, KEYS_MAX), ConsistentRead: true } };
      const answer = await this.#read(() => this.#client.send(new BatchGetItemCommand({ RequestItems })));
      const rest = answer.UnprocessedKeys?.[this.name]?.Keys ?? [];
      found.push(...(answer.Responses?.[this.name] ?? []));
      empty = rest.length === Math.min(left.length, KEYS_MAX) ? empty + 1 : 0;
      if (empty === EMPTY_ANSWERS_MAX)
        throw new Fault('unavailable', `the DynamoDB table "${this.name}" serves no part of a batch`);
      left = [...rest, ...left.slice(KEYS_MAX)];
    }
    return found;
  }

  /** Items of the collection with a sort key in the range, ascending; a page of them. */
  async query(stream: string, { from, to }: SortKeys, limit: number, after?: Item, only?: string): Promise<Page> {
    const part = only === undefined ? {} : { ProjectionExpression: only };
    const input = {
      TableName: this.name,
      KeyConditionExpression: 'stream_id = :stream AND sk BETWEEN :from AND :to',
      ExpressionAttributeValues: { ':stream': { S: stream }, ':from': { S: from }, ':to': { S: to } },
      ConsistentRead: true,
      Limit: limit,
      ...(after === undefined ? {} : { ExclusiveStartKey: after }),
      ...part,
    };
    const { Items = [], LastEvaluatedKey } = await this.#read(() => this.#client.send(new QueryCommand(input)));
    return { items: Items, next: LastEvaluatedKey };
  }

  async update(stream: string, sk: string, { set, condition, names, values }: Update): Promise<Updated> {
    const input: UpdateItemCommandInput = {
      TableName: this.name,
      Key: keyOf(stream, sk),
      UpdateExpression: set,
      ConditionExpression: condition,
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: values,
      ...(condition === undefined ? {} : { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const }),
    };
    try {
      await this.#client.send(new UpdateItemCommand(withoutUndefined(input)));
      return { kind: 'written' };
    } catch (thrown) {
      if (nameOf(thrown) !== 'ConditionalCheckFailedException') throw thrown;
      const { Item: told } = thrown as { readonly Item?: Item };
      // A stand-in may not tell the item that the condition failed on.
      return { kind: 'refused', item: told ?? (await this.get(stream, sk)) };
    }
  }

  /** The same, with what DynamoDB says as a Fault. */
  async write(stream: string, sk: string, update: Update): Promise<Updated> {
    return this.update(stream, sk, update).catch((thrown: unknown) => {
      if (!isTooLarge(thrown)) throw mapWriteError(thrown, this.name);
      throw new Fault('too_large', `${JSON.stringify(sk)} would take more than the 400 KB of an item`, {
        cause: thrown,
      });
    });
  }

  async delete(stream: string, sk: string): Promise<void> {
    const command = new DeleteItemCommand({ TableName: this.name, Key: keyOf(stream, sk) });
    await this.#client.send(command).catch((thrown: unknown) => {
      throw mapWriteError(thrown, this.name);
    });
  }

  async #read<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (thrown) {
      throw mapError(thrown, this.name);
    }
  }
}

function withoutUndefined<T extends object>(input: T): T {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as T;
}
