import {
  type AttributeValue,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
} from '@aws-sdk/client-dynamodb';
import { faultOf, nameOf, type DynamoClient } from '@tidemark/libs-driver-dynamodb';
import { isSameRow, type LeaseRow, toItem, toRow } from './lease-row.ts';

/** A put is repeated so often when an earlier one of ours turns out to have arrived meanwhile. */
const PUTS_MAX = 4;

interface Condition {
  readonly text: string;
  readonly values?: Record<string, AttributeValue>;
}

/**
 * The rows of one fold. A row is written as a whole, on a condition that says who may: every write is done at most once, and one that
 * arrives late, or twice, or after somebody else's, does nothing. Where DynamoDB refuses a write it is asked what is stored, because the
 * refused one may have been the SDK's repeat of one that was done. Faults: as faultOf of the driver.
 */
export class LeaseTable {
  readonly #client: DynamoClient;
  readonly #table: string;
  readonly #fold: string;
  readonly #signal: AbortSignal | undefined;

  constructor(client: DynamoClient, table: string, fold: string, signal?: AbortSignal) {
    this.#client = client;
    this.#table = table;
    this.#fold = fold;
    this.#signal = signal;
  }

  /** The same rows for calls that outlive the signal. */
  withoutSignal(): LeaseTable {
    return new LeaseTable(this.#client, this.#table, this.#fold);
  }

  async rows(): Promise<Map<string, LeaseRow>> {
    const rows = new Map<string, LeaseRow>();
    let from: Record<string, AttributeValue> | undefined;
    do {
      const command: QueryCommand = new QueryCommand({
        TableName: this.#table,
        KeyConditionExpression: 'fold = :fold',
        ExpressionAttributeValues: { ':fold': { S: this.#fold } },
        ConsistentRead: true,
        ...(from === undefined ? {} : { ExclusiveStartKey: from }),
      });
      const { Items = [], LastEvaluatedKey } = await this.#sent(this.#client.send(command, this.#options()));
      for (const item of Items) rows.set(item['leaseKey']?.S ?? '', toRow(item));
      from = LastEvaluatedKey;
    } while (from !== undefined);
    return rows;
  }

  async row(key: string): Promise<LeaseRow | null> {
    const Key = { fold: { S: this.#fold }, leaseKey: { S: key } };
    const command = new GetItemCommand({ TableName: this.#table, Key, ConsistentRead: true });
    const { Item } = await this.#sent(this.#client.send(command, this.#options()));
    return Item === undefined ? null : toRow(Item);
  }

  /** Whether the row is there now; one that is there already stays. */
  async create(row: LeaseRow): Promise<void> {
    await this.#put(row, { text: 'attribute_not_exists(leaseKey)' });
  }

  /** Puts `next` in the place of `seen`, which nobody may have written since; null: `seen` is to be made. False: somebody was quicker. */
  async swap(seen: LeaseRow | null, next: LeaseRow): Promise<boolean> {
    const condition = seen === null ? { text: 'attribute_not_exists(leaseKey)' } : unchanged(seen);
    if (await this.#put(next, condition)) return true;
    const stored = await this.row(next.key);
    return stored !== null && isSameRow(stored, next);
  }

  /**
   * A write of the lease's owner. Answers the row as it is stored then; null: the lease is lost, and nothing was written. Later ones win
   * over earlier ones whatever order they arrive in.
   */
  async keep(row: LeaseRow): Promise<LeaseRow | null> {
    let next = row;
    for (let puts = 1; ; puts++) {
      if (await this.#put(next, ownedBefore(row, next.counter))) return next;
      const stored = await this.row(row.key);
      if (stored === null || stored.owner !== row.owner || stored.epoch !== row.epoch) return null;
      if (isSameRow(stored, next) || puts === PUTS_MAX) return stored;
      next = { ...next, counter: stored.counter + 1 };
    }
  }

  /** The owner gives its lease back, with its last checkpoint. False: it was lost. */
  async release(row: LeaseRow): Promise<boolean> {
    let free = { ...row, owner: null, counter: row.counter + 1 };
    for (let puts = 1; puts <= PUTS_MAX; puts++) {
      if (await this.#put(free, ownedBefore(row, free.counter))) return true;
      const stored = await this.row(row.key);
      if (stored === null) return false;
      if (stored.owner !== row.owner || stored.epoch !== row.epoch) return isSameRow(stored, free);
      free = { ...free, counter: stored.counter + 1 };
    }
    return false;
  }

  /** Removes the row unless somebody wrote it since it was seen. */
  async remove(seen: LeaseRow): Promise<void> {
    const { text, values } = unchanged(seen);
    const command = new DeleteItemCommand({
      TableName: this.#table,
      Key: { fold: { S: this.#fold }, leaseKey: { S: seen.key } },
      ConditionExpression: text,
      ExpressionAttributeValues: values,
    });
    await this.#isDone(this.#client.send(command, this.#options()));
  }

  #put(row: LeaseRow, { text, values }: Condition): Promise<boolean> {
    const command = new PutItemCommand({
      TableName: this.#table,
      Item: toItem(this.#fold, row),
      ConditionExpression: text,
      ...(values === undefined ? {} : { ExpressionAttributeValues: values }),
    });
    return this.#isDone(this.#client.send(command, this.#options()));
  }

  async #isDone(sent: Promise<unknown>): Promise<boolean> {
    try {
      await sent;
      return true;
    } catch (thrown) {
      if (nameOf(thrown) === 'ConditionalCheckFailedException') return false;
      throw faultOf(thrown, this.#what());
    }
  }

  #sent<T>(sent: Promise<T>): Promise<T> {
    return sent.catch((thrown: unknown) => {
      throw faultOf(thrown, this.#what());
    });
  }

  #what(): string {
    return `the leases table "${this.#table}"`;
  }

  #options(): { readonly abortSignal?: AbortSignal } {
    return this.#signal === undefined ? {} : { abortSignal: this.#signal };
  }
}

function unchanged({ epoch, counter }: LeaseRow): Required<Condition> {
  return {
    text: 'leaseEpoch = :epoch AND leaseCounter = :counter',
    values: { ':epoch': { N: String(epoch) }, ':counter': { N: String(counter) } },
  };
}

/** The lease is still this owner's, in this epoch (F14), and no later write of it has arrived. */
function ownedBefore({ owner, epoch }: LeaseRow, counter: number): Condition {
  return {
    text: 'leaseEpoch = :epoch AND leaseOwner = :owner AND leaseCounter < :counter',
    values: { ':epoch': { N: String(epoch) }, ':owner': { S: owner ?? '' }, ':counter': { N: String(counter) } },
  };
}
