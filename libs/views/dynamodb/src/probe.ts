import {
  type AttributeValue,
  BatchGetItemCommand,
  DeleteItemCommand,
  DescribeTableCommand,
  GetItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { Fault, type Random, type Sleeper, backoffMs } from '@tidemark/libs-kernel';
import type { DynamoClient } from './client.ts';
import { mapError, nameOf } from './map-error.ts';
import { keyText, viewsTable } from './tables.ts';

export interface ProbeParts {
  readonly client: DynamoClient;
  readonly table: string;
  readonly sleeper: Sleeper;
  readonly random: Random;
}

/** Of the services' settings, the one that names the table. */
const SETTING = 'FOLD_VIEWS_TABLE';

/** A throttled look is repeated: a deployment starts all its workers at once. */
export const LOOKS_MAX = 8;
const LOOK_BACKOFF = { baseMs: 100, ceilingMs: 5000 };

/**
 * Looks whether a worker can keep its views in this table, without writing anything: it is there, active and of the right key, and every
 * right that the calls need is granted. Fault `misconfigured` names every action that is missing, so that a wrong deployment ends at its
 * start; `unavailable` when DynamoDB does not answer.
 */
export async function probe(parts: ProbeParts): Promise<void> {
  const problems: string[] = [];
  const shape = await unthrottled(parts, () => shapeProblem(parts));
  if (shape !== null) problems.push(shape);
  for (const right of RIGHTS) {
    const denied = await unthrottled(parts, () => rightProblem(parts, right));
    if (denied !== null) problems.push(denied);
  }
  if (problems.length > 0) throw new Fault('misconfigured', problems.join('; '));
}

/** Throws at once where the table is unfit: one that is not there denies everything, in words that say less. */
async function shapeProblem({ client, table }: ProbeParts): Promise<string | null> {
  try {
    const { Table = {} } = await client.send(new DescribeTableCommand({ TableName: table }));
    const [has, needs] = [keyText(Table), keyText(viewsTable(table) as Parameters<typeof keyText>[0])];
    if (has !== needs) throw unfit(`the table "${table}" has the key (${has}), and needs (${needs})`);
    if (Table.TableStatus === 'ACTIVE' || Table.TableStatus === 'UPDATING') return null;
  } catch (thrown) {
    if (nameOf(thrown) === 'ResourceNotFoundException') throw unfit(`there is no table "${table}"`);
    if (nameOf(thrown) === 'AccessDeniedException') return denial(table, thrown, 'DescribeTable');
    throw thrown;
  }
  throw new Fault('unavailable', `the table "${table}" is not active yet`);
}

function unfit(problem: string): Fault {
  return new Fault('misconfigured', `${SETTING}: ${problem}`);
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
    if (nameOf(thrown) === 'AccessDeniedException') return denial(table, thrown, action);
    throw thrown;
  }
}

/** The action as DynamoDB names it, else what was asked for. */
function denial(table: string, thrown: unknown, asked: string): string {
  const action = /dynamodb:\w+/.exec((thrown as Error).message)?.[0] ?? `dynamodb:${asked}`;
  return `${SETTING}: ${action} is not allowed on the table "${table}"`;
}

async function unthrottled<T>({ table, sleeper, random }: ProbeParts, look: () => Promise<T>): Promise<T> {
  for (let looks = 1; ; looks++) {
    try {
      return await look();
    } catch (thrown) {
      if (nameOf(thrown) === 'CredentialsProviderError') throw nobody(thrown as Error);
      const fault = mapError(thrown, table);
      if (fault.code !== 'unavailable' || looks === LOOKS_MAX) throw fault;
    }
    await sleeper.sleep(backoffMs(looks - 1, LOOK_BACKOFF, random));
  }
}

function nobody(cause: Error): Fault {
  const ways = 'AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY, AWS_PROFILE, or a role of the container or machine';
  return new Fault('misconfigured', `no AWS credentials were found: ${ways} (${cause.message})`, { cause });
}
