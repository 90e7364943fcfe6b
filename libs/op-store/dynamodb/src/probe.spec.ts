import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { LOOKS_MAX, tableDefinition } from '@tidemark/libs-driver-dynamodb';
import { SeededRandom } from '@tidemark/libs-kernel/testing';
import {
  type FaultProxy,
  callsOf,
  cancel,
  deny,
  fail,
  first,
  serverTests,
  startFaultProxy,
  throttle,
} from '@tidemark/tools-services/testing';
import { probe } from './probe.ts';
import { type SpecTables, specClient, specTables } from './spec-tables.ts';
import { OPS_KEY, REGISTRY_KEY } from './tables.ts';

const dynamodbTest = serverTests('dynamodb');

interface Scene {
  readonly tables: SpecTables;
  readonly proxy: FaultProxy;
  readonly waits: number[];
  look(names?: Partial<Record<'opsTable' | 'registryTable', string>>): Promise<void>;
}

function probeTest(title: string, run: (scene: Scene) => Promise<void>): void {
  dynamodbTest(title, async ({ endpoint }) => {
    const proxy = await startFaultProxy(endpoint);
    try {
      const tables = await specTables(endpoint);
      const waits: number[] = [];
      const sleeper = { sleep: async (ms: number) => void waits.push(ms) };
      const client = specClient(proxy.endpoint, 1);
      const { opsTable, registryTable } = tables;
      const parts = { client, opsTable, registryTable, sleeper, random: new SeededRandom(3) };
      await run({ tables, proxy, waits, look: (names = {}) => probe({ ...parts, ...names }) });
    } finally {
      await proxy.close();
    }
  });
}

probeTest('RLY-18: a relay that may do all it needs finds its tables fit, and writes nothing', async (scene) => {
  const { look, tables, waits } = scene;
  await look();
  expect(await tables.items(tables.opsTable)).toEqual([]);
  expect(await tables.items(tables.registryTable)).toEqual([]);
  expect(waits).toEqual([]);
});

probeTest('OPS-2: a missing table is told with the setting that names it, both at once', async ({ look }) => {
  await expect(look({ opsTable: 'none', registryTable: 'neither' })).rejects.toMatchObject({
    code: 'misconfigured',
    message:
      'RELAY_DYNAMODB_TABLE: there is no table "none"; RELAY_DYNAMODB_REGISTRY_TABLE: there is no table "neither"',
  });
});

probeTest('OPS-2: a table with another key is told with the key it has and the key it needs', async (scene) => {
  const { look, tables } = scene;
  const { opsTable, registryTable, client } = tables;
  await expect(look({ opsTable: registryTable, registryTable: opsTable })).rejects.toMatchObject({
    code: 'misconfigured',
    message:
      `RELAY_DYNAMODB_TABLE: the table "${registryTable}" has the key (stream_id S, sk S), and needs (stream_id S, seq N); ` +
      `RELAY_DYNAMODB_REGISTRY_TABLE: the table "${opsTable}" has the key (stream_id S, seq N), and needs (stream_id S, sk S)`,
  });

  const textSeq = `${opsTable}_text`;
  const [partition] = OPS_KEY;
  await client.send(new CreateTableCommand(tableDefinition(textSeq, [partition, ['seq', 'S']])));
  await expect(look({ opsTable: textSeq })).rejects.toThrow('has the key (stream_id S, seq S)');
  const partitionAlone = `${opsTable}_alone`;
  const { KeySchema, AttributeDefinitions, ...rest } = tableDefinition(partitionAlone, REGISTRY_KEY);
  const [key, attribute] = [KeySchema?.slice(0, 1), AttributeDefinitions?.slice(0, 1)];
  await client.send(new CreateTableCommand({ ...rest, KeySchema: key, AttributeDefinitions: attribute }));
  await expect(look({ registryTable: partitionAlone })).rejects.toThrow('has the key (stream_id S)');
});

const OPS = ['DescribeTable', 'Query', 'GetItem', 'PutItem', 'UpdateItem', 'ConditionCheckItem'];
const REGISTRY = ['DescribeTable', 'Query', 'GetItem', 'PutItem'];

// kills: probe.ts: if (denied !== null) => if (false)
probeTest('OPS-2: each right that is missing is named, with its table and setting', async ({ look, proxy, tables }) => {
  for (const [setting, table, actions] of [
    ['RELAY_DYNAMODB_TABLE', tables.opsTable, OPS],
    ['RELAY_DYNAMODB_REGISTRY_TABLE', tables.registryTable, REGISTRY],
  ] as const)
    for (const action of actions) {
      const allow = proxy.add(deny(action, table));
      await expect(look()).rejects.toMatchObject({
        code: 'misconfigured',
        message: `${setting}: dynamodb:${action} is not allowed on the table "${table}"`,
      });
      allow();
    }
  await look();
});

probeTest('OPS-2: rights that no relay needs are not asked for', async ({ look, proxy }) => {
  for (const action of ['DeleteItem', 'Scan', 'BatchGetItem', 'BatchWriteItem', 'CreateTable', 'UpdateTable'])
    proxy.add(deny(action));
  await look();
});

probeTest('OPS-2: all that is missing is told at once', async ({ look, proxy, tables }) => {
  proxy.add(deny('Query'));
  proxy.add(deny('UpdateItem'));
  const failure = await look().then(
    () => '',
    (error: Error) => error.message,
  );
  expect(failure.split('; ')).toEqual([
    `RELAY_DYNAMODB_TABLE: dynamodb:Query is not allowed on the table "${tables.opsTable}"`,
    `RELAY_DYNAMODB_TABLE: dynamodb:UpdateItem is not allowed on the table "${tables.opsTable}"`,
    `RELAY_DYNAMODB_REGISTRY_TABLE: dynamodb:Query is not allowed on the table "${tables.registryTable}"`,
  ]);
});

probeTest('D8: a throttled look is repeated, each of them, and ends as unavailable', async ({ look, proxy, waits }) => {
  for (const call of ['DescribeTable', 'Query', 'GetItem', 'TransactWriteItems']) {
    const heal = proxy.add(throttle(first(2, callsOf(call))));
    await look();
    heal();
  }
  expect(waits).toHaveLength(8);
  expect(new Set(waits).size).toBe(8);

  waits.length = 0;
  proxy.add(throttle(callsOf('DescribeTable')));
  await expect(look()).rejects.toMatchObject({ code: 'unavailable' });
  expect(waits).toHaveLength(LOOKS_MAX - 1);
});

probeTest('RLY-18: relays that look at the same time do not refuse each other', async ({ look, proxy, waits }) => {
  proxy.add(cancel(callsOf('TransactWriteItems'), ['TransactionConflict']));
  await look();
  expect(waits).toEqual([]);
});

probeTest('OPS-2: wrong credentials are a wrong setting, an absent server is not', async ({ look, proxy }) => {
  const heal = proxy.add(fail(() => true, 'UnrecognizedClientException'));
  await expect(look()).rejects.toMatchObject({ code: 'misconfigured' });
  heal();
  proxy.add(async () => ({ kind: 'lost' }));
  await expect(look()).rejects.toMatchObject({ code: 'unavailable' });
});

test('OPS-2: where no credentials are found it is said which ones would do', async () => {
  const missing = Object.assign(new Error('Could not load credentials'), { name: 'CredentialsProviderError' });
  const client = { send: () => Promise.reject(missing) };
  const parts = { client, opsTable: 'ops', registryTable: 'registry', sleeper: { sleep: async () => {} } };
  await expect(probe({ ...parts, random: new SeededRandom(1) })).rejects.toMatchObject({
    code: 'misconfigured',
    message: expect.stringMatching(
      /^no AWS credentials were found: AWS_ACCESS_KEY_ID .* \(Could not load credentials\)$/,
    ),
  });
});

probeTest('OPS-2: a table that is not active yet is waited for', async ({ look, proxy, waits }) => {
  const creating = first(1, callsOf('DescribeTable'));
  proxy.add(async (call, forward) => {
    const answer = await forward(call);
    if (answer.kind === 'lost' || !creating(call)) return answer;
    return { ...answer, body: Buffer.from(Buffer.from(answer.body).toString().replace('"ACTIVE"', '"CREATING"')) };
  });
  await look();
  expect(waits).toHaveLength(1);
});
