import {
  type AttributeValue,
  BatchGetItemCommand,
  DeleteItemCommand,
  GetItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import {
  denial,
  deniedAction,
  type DynamoClient,
  type LookWaits,
  nameOf,
  shapeOf,
  tableCalled,
  unthrottled,
} from '@tidemark/libs-driver-dynamodb';
import { Fault } from '@tidemark/libs-kernel';
import { viewsTable } from './tables.ts';

export interface ProbeParts extends LookWaits {
  readonly client: DynamoClient;
  readonly table: string;
}

/** Of the services' settings, the one that names the table. */
const SETTING = 'FOLD_VIEWS_TABLE';

/**
 * Looks whether a worker can keep its views in this table, without writing anything: it is there, active and of the right key, and every
 * right that the calls need is granted. Fault `misconfigured` names every action that is missing, so that a wrong deployment ends at its
 * start; `unavailable` when DynamoDB does not answer.
 */
export async function probe(parts: ProbeParts): Promise<void> {
  const { client, table } = parts;
  const look = <T>(at: () => Promise<T>): Promise<T> => unthrottled(parts, tableCalled(table), at);
  const shape = await look(() => shapeOf(client, viewsTable(table)));
  const problems = shape.kind === 'fit' ? [] : [shape.problem];
  // A table that is not there denies everything, in words that say less.
  if (shape.kind !== 'unfit')
    for (const right of RIGHTS) {
      const denied = await look(() => rightProblem(parts, right));
      if (denied !== null) problems.push(denied);
    }
  if (problems.length > 0)
    throw new Fault('misconfigured', problems.map((problem) => `${SETTING}: ${problem}`).join('; '));
}

interface Right {
  readonly action: string;
  /** Refused when the action is not allowed; changes nothing in any case. */
  use(client: DynamoClient, table: string): Promise<unknown>;
}

/** A stream that nobody folds; and if somebody does, no condition below can hold. */
const STREAM: AttributeValue = { S: 'tidemark probe' };
const KEY = { stream_id: STREAM, sk: { S: 'probe' } };
const NEVER = 'attribute_exists(stream_id) AND attribute_not_exists(stream_id)';

const RIGHTS: readonly Right[] = [
  {
    action: 'GetItem',
    use: (client, TableName) => client.send(new GetItemCommand({ TableName, Key: KEY, ConsistentRead: true })),
  },
  {
    action: 'BatchGetItem',
    use: (client, table) =>
      client.send(new BatchGetItemCommand({ RequestItems: { [table]: { Keys: [KEY], ConsistentRead: true } } })),
  },
  {
    action: 'Query',
    use: (client, TableName) => {
      const ExpressionAttributeValues = { ':stream': STREAM };
      const KeyConditionExpression = 'stream_id = :stream';
      const one = { KeyConditionExpression, ExpressionAttributeValues, ConsistentRead: true, Limit: 1 };
      return client.send(new QueryCommand({ TableName, ...one }));
    },
  },
  {
    action: 'UpdateItem',
    use: (client, TableName) => {
      const ExpressionAttributeValues = { ':yes': { BOOL: true } };
      const write = { UpdateExpression: 'SET probed = :yes', ExpressionAttributeValues };
      return client.send(new UpdateItemCommand({ TableName, Key: KEY, ...write, ConditionExpression: NEVER }));
    },
  },
  {
    action: 'DeleteItem',
    use: (client, TableName) => client.send(new DeleteItemCommand({ TableName, Key: KEY, ConditionExpression: NEVER })),
  },
];

async function rightProblem({ client, table }: ProbeParts, { action, use }: Right): Promise<string | null> {
  try {
    await use(client, table);
    return null;
  } catch (thrown) {
    // It came as far as its condition.
    if (nameOf(thrown) === 'ConditionalCheckFailedException') return null;
    const denied = deniedAction(thrown, `dynamodb:${action}`);
    if (denied !== null) return denial(denied, table);
    throw thrown;
  }
}
