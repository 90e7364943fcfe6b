import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { DynamoClient } from '@tidemark/libs-driver-dynamodb';

export type SpecItem = Record<string, AttributeValue>;
export interface SpecCall {
  readonly name: string;
  // The input of any command.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly input: any;
}
/** Stands before a client: passes the call on, or does not, or does something first. */
export type Between = (call: SpecCall, pass: () => Promise<unknown>) => Promise<unknown>;

export const awsError = (name: string, message = name) => Object.assign(new Error(message), { name, $metadata: {} });

/** Any client of the SDK by what it answers to each command. */
export abstract class SpecSdk {
  readonly sent: SpecCall[] = [];
  between: Between = (_, pass) => pass();

  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  async send(command: any): Promise<any> {
    const call = { name: command.constructor.name.replace(/Command$/, ''), input: command.input };
    this.sent.push(call);
    return this.between(call, async () => this.answer(call));
  }

  count(name: string): number {
    return this.sent.filter((call) => call.name === name).length;
  }

  protected abstract answer(call: SpecCall): unknown;
}

/** As much of DynamoDB as the feed asks of its two tables, in memory, with exact conditions. Its own clock is none. */
export class SpecDynamo extends SpecSdk {
  readonly opsTable = 'ops';
  readonly leasesTable = 'leases';
  readonly #tables = new Map<string, Map<string, SpecItem>>([
    ['ops', new Map()],
    ['leases', new Map()],
  ]);
  /** Of the newest stream; null: there never was one. */
  label: string | null = '2026-01-01T00:00:00.000';
  isStreamOn = true;
  /** Whether a scan may go on from a key that no item has. */
  takesAnyStartKey = true;
  pageItemsMax = Infinity;

  get client(): DynamoClient {
    return this as unknown as DynamoClient;
  }

  put(table: string, item: SpecItem): void {
    this.#tables.get(table)?.set(keyOf(item), item);
  }

  remove(table: string, item: SpecItem): void {
    this.#tables.get(table)?.delete(keyOf(item));
  }

  /** In the order of their keys. */
  items(table: string): SpecItem[] {
    return [...(this.#tables.get(table)?.values() ?? [])].sort(byKey);
  }

  /** Of the fold `fold`, by leaseKey. */
  leases(fold = 'fold'): Map<string, SpecItem> {
    const own = this.items('leases').filter((item) => item['fold']?.S === fold);
    return new Map(own.map((item) => [item['leaseKey']?.S ?? '', item]));
  }

  protected answer({ name, input }: SpecCall): unknown {
    const rows = this.#tables.get(input.TableName);
    if (rows === undefined) throw awsError('ResourceNotFoundException');
    const key = keyOf(input.Key ?? input.Item ?? {});
    switch (name) {
      case 'DescribeTable':
        return { Table: this.#description() };
      case 'GetItem':
        return { Item: rows.get(key) };
      case 'PutItem':
      case 'DeleteItem':
        if (!holds(input.ConditionExpression, rows.get(key), input.ExpressionAttributeValues))
          throw awsError('ConditionalCheckFailedException');
        if (name === 'PutItem') rows.set(key, input.Item);
        else rows.delete(key);
        return {};
      case 'Query':
        return this.#query(input);
      case 'Scan':
        return this.#scan(input);
    }
    throw new Error(`what is ${name}?`);
  }

  #description() {
    const arn = `arn:aws:dynamodb:us-east-1:000000000000:table/ops/stream/${this.label}`;
    return {
      TableStatus: 'ACTIVE',
      StreamSpecification: { StreamEnabled: this.label !== null && this.isStreamOn },
      ...(this.label === null ? {} : { LatestStreamArn: arn, LatestStreamLabel: this.label }),
    };
  }

  #query(input: SpecCall['input']): unknown {
    const values = input.ExpressionAttributeValues;
    if (input.TableName === 'leases') return { Items: [...this.leases(values[':fold'].S).values()] };
    const ops = this.items('ops').filter((item) => item['stream_id']?.S === values[':stream'].S && seqOf(item) > 0n);
    return { Items: ops.toReversed().slice(0, input.Limit) };
  }

  #scan({ Segment, TotalSegments, Limit, ExclusiveStartKey: start }: SpecCall['input']): unknown {
    const all = this.items('ops').filter((item) => (item['stream_id']?.S ?? '').length % TotalSegments === Segment);
    if (start !== undefined && !this.takesAnyStartKey && !all.some((item) => keyOf(item) === keyOf(start)))
      throw awsError('ValidationException', 'The provided starting key is invalid');
    const left = start === undefined ? all : all.filter((item) => byKey(item, start) > 0);
    const page = left.slice(0, Math.min(Limit, this.pageItemsMax));
    const last = page.at(-1);
    const isCut = page.length < left.length && last !== undefined;
    return {
      Items: page,
      ScannedCount: page.length,
      ConsumedCapacity: { CapacityUnits: 1 },
      ...(isCut ? { LastEvaluatedKey: { stream_id: last['stream_id'], seq: last['seq'] } } : {}),
    };
  }
}

const keyOf = (item: SpecItem) =>
  [item['fold'], item['leaseKey'], item['stream_id'], item['seq']].map((value) => value?.S ?? value?.N).join(' ');

const seqOf = (item: SpecItem) => BigInt(item['seq']?.N ?? '0');

function byKey(a: SpecItem, b: SpecItem): number {
  const [x, y] = [a['stream_id']?.S ?? '', b['stream_id']?.S ?? ''];
  if (x !== y) return x < y ? -1 : 1;
  return seqOf(a) < seqOf(b) ? -1 : seqOf(a) > seqOf(b) ? 1 : 0;
}

function holds(condition: string, item: SpecItem | undefined, values: Record<string, AttributeValue>): boolean {
  return condition.split(' AND ').every((part) => {
    if (part.startsWith('attribute_not_exists')) return item === undefined;
    const [name = '', by, value = ''] = part.split(' ');
    const [have, want] = [item?.[name], values[value]];
    if (have === undefined || want === undefined) return false;
    return by === '<' ? Number(have.N) < Number(want.N) : (have.S ?? have.N) === (want.S ?? want.N);
  });
}
