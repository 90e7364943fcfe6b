import {
  type AttributeValue,
  type CancellationReason,
  GetItemCommand,
  QueryCommand,
  type TransactWriteItem,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { nameOf, type DynamoClient } from '@tidemark/libs-driver-dynamodb';

/** One call that is refused when an action is not allowed, and changes nothing in any case. */
export interface Right {
  /** What it needs, as a policy names it. */
  readonly actions: string;
  use(client: DynamoClient, table: string): Promise<unknown>;
}

type Key = Readonly<Record<string, AttributeValue>>;

/** A stream that nobody writes; and if somebody does, no condition below can hold. */
const STREAM: AttributeValue = { S: 'tidemark probe' };
const NEVER = 'attribute_exists(stream_id) AND attribute_not_exists(stream_id)';

const get = (rest: Key): Right => ({
  actions: 'dynamodb:GetItem',
  use: (client, TableName) =>
    client.send(new GetItemCommand({ TableName, Key: { stream_id: STREAM, ...rest }, ConsistentRead: true })),
});

const query: Right = {
  actions: 'dynamodb:Query',
  use: (client, TableName) => {
    const ExpressionAttributeValues = { ':stream': STREAM };
    const KeyConditionExpression = 'stream_id = :stream';
    return client.send(new QueryCommand({ TableName, KeyConditionExpression, ExpressionAttributeValues, Limit: 1 }));
  },
};

/** DynamoDB asks for the right of each action of a transaction before it looks at any condition. */
const transact = (actions: string, items: (table: string) => TransactWriteItem[]): Right => ({
  actions,
  use: (client, table) => client.send(new TransactWriteItemsCommand({ TransactItems: items(table) })),
});

const put = (TableName: string, rest: Key): TransactWriteItem => ({
  Put: { TableName, Item: { stream_id: STREAM, ...rest }, ConditionExpression: NEVER },
});

/** What reading ops needs. */
export const LOG_RIGHTS: readonly Right[] = [query, get({ seq: { N: '0' } })];

/** What pushes and pulls need. */
export const OPS_RIGHTS: readonly Right[] = [
  ...LOG_RIGHTS,
  transact('dynamodb:PutItem, dynamodb:UpdateItem or dynamodb:ConditionCheckItem', (TableName) => [
    put(TableName, { seq: { N: '2' } }),
    {
      Update: {
        TableName,
        Key: { stream_id: STREAM, seq: { N: '0' } },
        UpdateExpression: 'SET next_seq = :seq',
        ConditionExpression: NEVER,
        ExpressionAttributeValues: { ':seq': { N: '0' } },
      },
    },
    { ConditionCheck: { TableName, Key: { stream_id: STREAM, seq: { N: '1' } }, ConditionExpression: NEVER } },
  ]),
];

/** What prefixes and presence need. */
export const REGISTRY_RIGHTS: readonly Right[] = [
  query,
  get({ sk: { S: 'probe' } }),
  transact('dynamodb:PutItem', (table) => [put(table, { sk: { S: 'probe' } })]),
];

const THROTTLED = new Set(['ThrottlingError', 'ProvisionedThroughputExceeded']);

/**
 * `allowed`: a transaction that came as far as its conditions, or met another relay's probe there. `throttled`: it did not come that far,
 * and may the next time. null: no cancelled transaction, or another reason.
 */
export function cancelledAs(thrown: unknown): 'allowed' | 'throttled' | null {
  if (nameOf(thrown) !== 'TransactionCanceledException') return null;
  const { CancellationReasons = [] } = thrown as { readonly CancellationReasons?: readonly CancellationReason[] };
  if (CancellationReasons.some(({ Code }) => THROTTLED.has(Code ?? ''))) return 'throttled';
  const isJudged = CancellationReasons.some(({ Code = '' }) =>
    /^(ConditionalCheckFailed|TransactionConflict)$/.test(Code),
  );
  return isJudged ? 'allowed' : null;
}
