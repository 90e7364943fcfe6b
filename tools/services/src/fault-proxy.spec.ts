import { randomUUID } from 'node:crypto';
import {
  BatchWriteItemCommand,
  CreateTableCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactGetItemsCommand,
  type TransactWriteItem,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import {
  callsOf,
  cancel,
  delay,
  deny,
  every,
  fail,
  first,
  forgetTokens,
  hold,
  leaveUnprocessed,
  limitWriteUnits,
  loseAnswer,
  throttle,
} from './fault-rules.ts';
import { serverTests } from './testing.ts';

const dynamodbTest = serverTests('dynamodb');
const TableName = `proxied_${randomUUID()}`;

interface Scene {
  readonly proxy: FaultProxy;
  readonly client: DynamoDBClient;
  put(id: string, more?: Record<string, { S: string }>): TransactWriteItem;
  transact(...items: TransactWriteItem[]): Promise<unknown>;
  has(id: string): Promise<boolean>;
}

/** A table behind the proxy, for one test. */
function proxied(title: string, run: (scene: Scene) => Promise<void>): void {
  dynamodbTest(title, async ({ endpoint }) => {
    const proxy = await startFaultProxy(endpoint);
    const client = new DynamoDBClient({
      endpoint: proxy.endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
      maxAttempts: 1,
    });
    const table = `${TableName}_${randomUUID()}`;
    try {
      await client.send(
        new CreateTableCommand({
          TableName: table,
          AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
          KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
          BillingMode: 'PAY_PER_REQUEST',
        }),
      );
      proxy.traffic();
      await run({
        proxy,
        client,
        put: (id, more = {}) => ({ Put: { TableName: table, Item: { id: { S: id }, ...more } } }),
        transact: (...TransactItems) => client.send(new TransactWriteItemsCommand({ TransactItems })),
        has: async (id) => {
          const get = new GetItemCommand({ TableName: table, Key: { id: { S: id } }, ConsistentRead: true });
          return (await client.send(get)).Item !== undefined;
        },
      });
    } finally {
      client.destroy();
      await proxy.close();
    }
  });
}

const tableOf = (item: TransactWriteItem) => item.Put?.TableName ?? '';
const checkOf = (item: TransactWriteItem, id: string): TransactWriteItem => ({
  ConditionCheck: {
    TableName: tableOf(item),
    Key: { id: { S: id } },
    ConditionExpression: 'attribute_exists(id)',
  },
});

proxied('an action is denied by its name, inside a transaction as well, and no other', async (scene) => {
  const { proxy, client, put, transact, has } = scene;
  const a = put('a');
  const allow = proxy.add(deny('ConditionCheckItem', tableOf(a)));
  await transact(a);
  await expect(transact(put('b'), checkOf(a, 'a'))).rejects.toMatchObject({
    name: 'AccessDeniedException',
    message: expect.stringContaining('dynamodb:ConditionCheckItem'),
  });
  expect(await has('b')).toBe(false);
  allow();
  await transact(put('b'), checkOf(a, 'a'));
  expect(await has('b')).toBe(true);

  proxy.add(deny('GetItem'));
  const Get = { TableName: tableOf(a), Key: { id: { S: 'a' } } };
  await expect(client.send(new TransactGetItemsCommand({ TransactItems: [{ Get }] }))).rejects.toMatchObject({
    name: 'AccessDeniedException',
  });
});

proxied('a transaction is cancelled with the given reasons, as often as asked', async ({ proxy, put, transact }) => {
  proxy.add(cancel(first(1, callsOf('TransactWriteItems')), ['None', 'TransactionConflict']));
  await expect(transact(put('a'), put('b'))).rejects.toMatchObject({
    name: 'TransactionCanceledException',
    CancellationReasons: [{ Code: 'None' }, { Code: 'TransactionConflict' }],
  });
  await transact(put('a'), put('b'));
});

proxied(
  'a throttled transaction is cancelled for it, and any other call is refused',
  async ({ proxy, client, put }) => {
    proxy.add(throttle(() => true));
    const a = put('a');
    await expect(client.send(new TransactWriteItemsCommand({ TransactItems: [a] }))).rejects.toMatchObject({
      CancellationReasons: [{ Code: 'ThrottlingError' }],
    });
    const single = new PutItemCommand({ TableName: tableOf(a), Item: { id: { S: 'a' } } });
    await expect(client.send(single)).rejects.toMatchObject({ name: 'ProvisionedThroughputExceededException' });
  },
);

proxied('any error of DynamoDB can be answered', async ({ proxy, put, transact }) => {
  proxy.add(fail(callsOf('TransactWriteItems'), 'TransactionInProgressException'));
  await expect(transact(put('a'))).rejects.toMatchObject({ name: 'TransactionInProgressException' });
});

proxied('a lost answer says nothing of what was stored', async ({ proxy, put, transact, has }) => {
  proxy.add(loseAnswer(callsOf('TransactWriteItems')));
  await expect(transact(put('a'))).rejects.toThrow();
  expect(await has('a')).toBe(true);
});

proxied('a transaction with a token is done once, and without one each time it is sent', async (scene) => {
  const { proxy, client, put, transact } = scene;
  await transact(put('n', { v: { S: 'x' } }));
  const Update = {
    TableName: tableOf(put('n')),
    Key: { id: { S: 'n' } },
    UpdateExpression: 'ADD times :one',
    ExpressionAttributeValues: { ':one': { N: '1' } },
  };
  const add = () =>
    client.send(new TransactWriteItemsCommand({ TransactItems: [{ Update }], ClientRequestToken: 'token' }));
  const times = async () => {
    const get = new GetItemCommand({ TableName: Update.TableName, Key: Update.Key, ConsistentRead: true });
    return (await client.send(get)).Item?.['times']?.N;
  };
  await add();
  await add();
  expect(await times()).toBe('1');
  proxy.add(forgetTokens());
  await add();
  expect(await times()).toBe('2');
});

proxied('every third call is refused', async ({ proxy, put, transact }) => {
  proxy.add(cancel(every(3, callsOf('TransactWriteItems')), ['TransactionConflict']));
  const ends: string[] = [];
  for (let n = 0; n < 6; n++)
    ends.push(
      await transact(put('a')).then(
        () => 'stored',
        () => 'refused',
      ),
    );
  expect(ends).toEqual(['stored', 'stored', 'refused', 'stored', 'stored', 'refused']);
});

proxied('a call is kept before it is written, or its answer after', async ({ proxy, put, transact, has }) => {
  const before = hold(first(1, callsOf('TransactWriteItems')));
  proxy.add(before.rule);
  const a = transact(put('a'));
  await before.arrived;
  expect(await has('a')).toBe(false);
  before.release();
  await a;

  const after = hold(callsOf('TransactWriteItems'), 'after');
  proxy.add(after.rule);
  const b = transact(put('b'));
  await after.arrived;
  expect(await has('b')).toBe(true);
  after.release();
  await b;
});

proxied('a kept call is written though its caller has gone', async ({ proxy, client, put, has }) => {
  const held = hold(callsOf('TransactWriteItems'));
  const answered = hold(callsOf('TransactWriteItems'), 'after');
  answered.release();
  const stored = Promise.withResolvers<void>();
  proxy.add(async (call, forward) => {
    const answer = await forward(call);
    if (call.name === 'TransactWriteItems') stored.resolve();
    return answer;
  });
  proxy.add(held.rule);
  const gone = new AbortController();
  const sent = client.send(new TransactWriteItemsCommand({ TransactItems: [put('a')] }), { abortSignal: gone.signal });
  await held.arrived;
  gone.abort();
  await expect(sent).rejects.toThrow();
  held.release();
  await stored.promise;
  expect(await has('a')).toBe(true);
});

proxied('a way takes at least its delay, there and back', async ({ proxy, put, transact }) => {
  proxy.add(delay(20));
  const startedAt = performance.now();
  await transact(put('a'));
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(38);
});

proxied('a batch hands back what it did not do', async ({ proxy, client, put, has }) => {
  proxy.add(leaveUnprocessed(1));
  const table = tableOf(put('a'));
  const requests = ['a', 'b', 'c'].map((id) => ({ PutRequest: { Item: { id: { S: id } } } }));
  const { UnprocessedItems } = await client.send(new BatchWriteItemCommand({ RequestItems: { [table]: requests } }));
  expect(UnprocessedItems?.[table]).toHaveLength(2);
  expect([await has('a'), await has('b')]).toEqual([true, false]);
});

proxied('a partition key takes its write units a second and no more, and another key is not held up', async (scene) => {
  const { proxy, put, transact } = scene;
  proxy.add(limitWriteUnits(0.01, 'id'));
  // Something is left of the first tenth of a second; what the first put costs comes back in minutes.
  await transact(put('a'));
  await expect(transact(put('a'))).rejects.toMatchObject({ CancellationReasons: [{ Code: 'ThrottlingError' }] });
  await transact(put('b'));
});

proxied('requests are counted by call and write units by action, as AWS bills them', async (scene) => {
  const { proxy, client, put, transact } = scene;
  const big = put('big', { text: { S: 'x'.repeat(3000) } });
  const table = tableOf(big);
  await transact(big, put('small'));
  expect(proxy.traffic()).toEqual({ requests: { TransactWriteItems: 1 }, writeUnits: { PutItem: 8 } });

  // Checking a large item costs by its size; a cancelled transaction costs as much as a stored one.
  await transact(put('more'), checkOf(big, 'big'));
  await transact(put('more'), checkOf(big, 'absent')).catch(() => {});
  await client.send(new PutItemCommand({ TableName: table, Item: { id: { S: 'x' } } }));
  const key = { ':id': { S: 'x' } };
  await client.send(
    new QueryCommand({ TableName: table, KeyConditionExpression: 'id = :id', ExpressionAttributeValues: key }),
  );
  expect(proxy.traffic()).toEqual({
    requests: { TransactWriteItems: 2, PutItem: 1, Query: 1 },
    writeUnits: { PutItem: 5, ConditionCheckItem: 8 },
  });

  proxy.add(throttle(callsOf('TransactWriteItems')));
  await transact(put('y')).catch(() => {});
  expect(proxy.traffic()).toEqual({ requests: { TransactWriteItems: 1 }, writeUnits: {} });
});
