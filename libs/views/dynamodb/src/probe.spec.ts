import { CreateTableCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { LOOKS_MAX } from '@tidemark/libs-driver-dynamodb';
import { SeededRandom } from '@tidemark/libs-kernel/testing';
import {
  type FaultProxy,
  callsOf,
  deny,
  first,
  serverTests,
  startFaultProxy,
  throttle,
} from '@tidemark/tools-services/testing';
import { type DynamodbViewsOptions, connectDynamodbViews } from './connect.ts';
import { probe } from './probe.ts';
import { STREAM, bodyOf, change, show } from './spec-changes.ts';
import { SPEC_AWS, type SpecTable, specClient, specTable } from './spec-table.ts';
import { viewsTable } from './tables.ts';

const dynamodbTest = serverTests('dynamodb');

interface Scene extends SpecTable {
  readonly proxy: FaultProxy;
  readonly waits: number[];
  look(table?: string): Promise<void>;
  options(table?: string): DynamodbViewsOptions;
}

function probeTest(title: string, run: (scene: Scene) => Promise<void>): void {
  dynamodbTest(title, async ({ endpoint }) => {
    const proxy = await startFaultProxy(endpoint);
    try {
      const spec = await specTable(endpoint);
      const waits: number[] = [];
      const random = new SeededRandom(3);
      const sleeper = { sleep: async (ms: number) => void waits.push(ms) };
      // The end of a call is not slept for: it would come at once.
      const patient = { sleep: () => new Promise<void>(() => {}) };
      const client = specClient(proxy.endpoint, 1);
      await run({
        ...spec,
        proxy,
        waits,
        look: (table = spec.table) => probe({ client, table, sleeper, random }),
        options: (table = spec.table) => ({ ...SPEC_AWS, endpoint: proxy.endpoint, table, sleeper: patient, random }),
      });
    } finally {
      await proxy.close();
    }
  });
}

probeTest('OPS-2: views open on a table that fits, write nothing for that, and share it', async (scene) => {
  const { options, look, client, table } = scene;
  await look();
  const [one, other] = [await connectDynamodbViews(options()), await connectDynamodbViews(options())];
  expect((await client.send(new ScanCommand({ TableName: table }))).Items).toEqual([]);
  await show(one);
  await one.apply(STREAM, 1, [change('a', 1)]);
  expect(await bodyOf(other, 'a')).toBe('1');
  await one.close();
  await expect(one.ping()).rejects.toMatchObject({ code: 'unavailable' });
  await other.ping();
  await other.close();
});

probeTest('OPS-2: a missing table is told with the setting that names it', async ({ options }) => {
  await expect(connectDynamodbViews(options('none'))).rejects.toMatchObject({
    code: 'misconfigured',
    message: 'FOLD_VIEWS_TABLE: there is no table "none"',
  });
});

probeTest('OPS-2: a table with another key is told with the key it has and the key it needs', async (scene) => {
  const { look, client, table } = scene;
  const name = `${table}_numbers`;
  const definition = viewsTable(name);
  const AttributeDefinitions = definition.AttributeDefinitions!.map((one) =>
    one.AttributeName === 'sk' ? { ...one, AttributeType: 'N' as const } : one,
  );
  await client.send(new CreateTableCommand({ ...definition, AttributeDefinitions }));
  await expect(look(name)).rejects.toMatchObject({
    code: 'misconfigured',
    message: `FOLD_VIEWS_TABLE: the table "${name}" has the key (stream_id S, sk N), and needs (stream_id S, sk S)`,
  });
});

const RIGHTS = ['DescribeTable', 'GetItem', 'BatchGetItem', 'Query', 'UpdateItem', 'DeleteItem'];

// kills: probe.ts: if (denied !== null) problems.push(denied); => void denied;
probeTest('OPS-2: each right that is missing is named, all at once, and no other is asked for', async (scene) => {
  const { look, proxy, table } = scene;
  for (const action of ['Scan', 'PutItem', 'BatchWriteItem', 'ConditionCheckItem', 'CreateTable', 'UpdateTable'])
    proxy.add(deny(action));
  await look();
  const denial = (action: string) => `FOLD_VIEWS_TABLE: dynamodb:${action} is not allowed on the table "${table}"`;
  for (const action of RIGHTS) {
    const allow = proxy.add(deny(action));
    await expect(look()).rejects.toMatchObject({ code: 'misconfigured', message: denial(action) });
    allow();
  }
  for (const action of RIGHTS) proxy.add(deny(action));
  await expect(look()).rejects.toMatchObject({ message: RIGHTS.map(denial).join('; ') });
});

probeTest('OPS-2: a throttled look is repeated, and ends as unavailable', async ({ look, proxy, waits }) => {
  for (const call of RIGHTS) {
    const heal = proxy.add(throttle(first(2, callsOf(call))));
    await look();
    heal();
  }
  expect(waits).toHaveLength(2 * RIGHTS.length);
  waits.length = 0;
  proxy.add(throttle(callsOf('DescribeTable')));
  await expect(look()).rejects.toMatchObject({ code: 'unavailable' });
  expect(waits).toHaveLength(LOOKS_MAX - 1);
});
