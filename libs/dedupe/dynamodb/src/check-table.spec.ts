import { randomUUID } from 'node:crypto';
import { CreateTableCommand, DeleteTableCommand, UpdateTimeToLiveCommand } from '@aws-sdk/client-dynamodb';
import { serverTests } from '@tidemark/tools-services/testing';
import { connectDynamodbDeduplicator } from './connect.ts';
import {
  LEASE_MS,
  RecordedLog,
  SPEC_AWS,
  RecordedMetrics,
  SpecTable,
  keyOf,
  sdkError,
  statuses,
  watched,
} from './spec-table.ts';
import { createDedupeTable, dedupeTableDefinition } from './table.ts';

const dynamodbTest = serverTests('dynamodb');

// kills: check-table.ts: if (has !== needs) => if (false)
dynamodbTest('DDP-6: a table of another key is refused, and nothing is sent to it', async ({ endpoint }) => {
  const table = await SpecTable.make(endpoint);
  const keys = [
    [{ name: 'id', type: 'S' }],
    [{ name: 'pk', type: 'B' }],
    [
      { name: 'pk', type: 'S' },
      { name: 'sk', type: 'S' },
    ],
  ] as const;
  for (const key of keys) {
    const TableName = `other_${randomUUID()}`;
    await table.client.send(
      new CreateTableCommand({
        ...dedupeTableDefinition(TableName),
        AttributeDefinitions: key.map(({ name, type }) => ({ AttributeName: name, AttributeType: type })),
        KeySchema: key.map(({ name }, i) => ({ AttributeName: name, KeyType: i === 0 ? 'HASH' : 'RANGE' })),
      }),
    );
    const sent: string[] = [];
    const client = watched(table.client, ({ name }) => void sent.push(name));
    const has = key.map(({ name, type }) => `${name} ${type}`).join(', ');
    await expect(table.open({ table: TableName, client })).rejects.toMatchObject({
      code: 'misconfigured',
      message: `the dedupe table "${TableName}" has the key (${has}), and needs (pk S)`,
    });
    expect(sent).toEqual(['DescribeTable']);
  }
});

dynamodbTest('DDP-6: a table that is not there is refused', async ({ endpoint }) => {
  const table = await SpecTable.make(endpoint);
  await table.client.send(new DeleteTableCommand({ TableName: table.name }));
  await expect(table.open()).rejects.toMatchObject({
    code: 'misconfigured',
    message: `the dedupe table "${table.name}" is not there (ResourceNotFoundException)`,
  });
});

dynamodbTest('DDP-6: a table that is being made is waited for', async ({ endpoint }) => {
  const table = await SpecTable.make(endpoint);
  const client = watched(table.client, ({ name }) =>
    name === 'DescribeTable' ? { Table: { ...dedupeTableDefinition(table.name), TableStatus: 'CREATING' } } : undefined,
  );
  const store = await table.open({ client });
  await expect(store.ping()).rejects.toMatchObject({ code: 'unavailable' });
  await store.close();
});

// kills: check-table.ts: if (isOn && told?.AttributeName === TTL_ATTRIBUTE) return; => if (isOn) return;
dynamodbTest('DDP-5: a TTL that is off, or on another attribute, is only a warning', async ({ endpoint }) => {
  const table = await SpecTable.make(endpoint);
  const warningsOf = async (name: string): Promise<number> => {
    const log = new RecordedLog();
    const store = await table.open({ table: name, log });
    expect(statuses(await store.reserve([keyOf('a')], LEASE_MS))).toEqual(['claimed']);
    await store.close();
    return log.warnings.filter((text) => text.includes('no TTL on "ex"')).length;
  };
  expect(await warningsOf(table.name)).toBe(0);
  const TableName = `without_ttl_${randomUUID()}`;
  await table.client.send(new CreateTableCommand(dedupeTableDefinition(TableName)));
  expect(await warningsOf(TableName)).toBe(1);
  const TimeToLiveSpecification = { Enabled: true, AttributeName: 'other' };
  const other = `other_ttl_${randomUUID()}`;
  await table.client.send(new CreateTableCommand(dedupeTableDefinition(other)));
  await table.client.send(new UpdateTimeToLiveCommand({ TableName: other, TimeToLiveSpecification }));
  expect(await warningsOf(other)).toBe(1);
});

dynamodbTest('DDP-6: the first look has ten times the time of a call', async ({ endpoint }) => {
  const table = await SpecTable.make(endpoint);
  const asked: number[] = [];
  const sleeper = {
    sleep: (ms: number, signal?: AbortSignal) => {
      if (ms >= 250) asked.push(ms);
      return ms < 250 ? Promise.resolve() : table.time.sleep(ms, signal);
    },
  };
  const store = await table.open({ sleeper });
  // Two steps, one after the other.
  expect(new Set(asked)).toEqual(new Set([5 * 250]));
  asked.splice(0);
  await store.ping();
  expect(asked).toEqual([250]);
});

dynamodbTest(
  'DDP-1: the table is made once, with its TTL, and one that is there is left alone',
  async ({ endpoint }) => {
    const table = await SpecTable.make(endpoint);
    await table.put({ pk: { S: 'acme/clicks/kept' }, st: { N: '2' } });
    await createDedupeTable(table.client, table.name, { sleep: async () => {} });
    expect(await table.items()).toHaveLength(1);
    const broken = watched(table.client, () => {
      throw sdkError('AccessDeniedException');
    });
    await expect(createDedupeTable(broken, table.name, table.time)).rejects.toMatchObject({
      name: 'AccessDeniedException',
    });
  },
);

dynamodbTest('DDP-1: connects with what it is given, and closes its connections', async ({ endpoint }) => {
  const table = await SpecTable.make(endpoint);
  const { name, time } = table;
  const parts = { ...SPEC_AWS, endpoint, clock: time, sleeper: time, log: new RecordedLog() };
  const random = { bytes: (n: number) => new Uint8Array(n), fraction: () => 0 };
  const options = { ...parts, random, metrics: new RecordedMetrics() };
  const store = await connectDynamodbDeduplicator({ ...options, table: name });
  await store.commit(await store.reserve([keyOf('a')], LEASE_MS), 0);
  await store.close();
  expect(await table.items()).toMatchObject([{ pk: { S: 'acme/clicks/a' }, st: { N: '2' } }]);
  const absent = connectDynamodbDeduplicator({ ...options, table: 'absent' });
  await expect(absent).rejects.toMatchObject({ code: 'misconfigured' });
});
