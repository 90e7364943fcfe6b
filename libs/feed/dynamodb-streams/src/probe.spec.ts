import { setTimeout } from 'node:timers/promises';
import { CreateTableCommand, UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { tableDefinition } from '@tidemark/libs-driver-dynamodb';
import type { Clock, Sleeper } from '@tidemark/libs-kernel';
import { SeededRandom } from '@tidemark/libs-kernel/testing';
import { callsOf, deny, first, serverTests, startFaultProxy, throttle } from '@tidemark/tools-services/testing';
import { connectDynamodbStreams } from './connect.ts';
import { SPEC_AWS, specTables } from './spec-tables.ts';
import { leasesTable, OPS_KEY } from './tables.ts';

const dynamodbTest = serverTests('dynamodb');

/** For a server that is really there. */
const TIME: Clock & Sleeper = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => setTimeout(ms, undefined, { signal }).catch(() => {}),
};

function connect(endpoint: string, tables: { readonly opsTable: string; readonly leasesTable: string }, name = 'fold') {
  const { opsTable, leasesTable: leases } = tables;
  const random = new SeededRandom(1);
  const named = { opsTable, leasesTable: leases, name, workerId: 'w' };
  return connectDynamodbStreams({ ...SPEC_AWS, ...named, endpoint, clock: TIME, sleeper: TIME, random });
}

describe('the feed of DynamoDB Streams at its start', () => {
  dynamodbTest('OPS-2: opens on two tables that it may use, and closes', async ({ endpoint }) => {
    const tables = await specTables(endpoint);
    await tables.append('s', 2n);
    const feed = await connect(endpoint, tables);
    await feed.ping();
    await feed.close();
    await expect(feed.ping()).rejects.toMatchObject({ code: 'unavailable' });
  });

  dynamodbTest('OPS-2: does not open on a table without a stream, and says what to switch on', async ({ endpoint }) => {
    const tables = await specTables(endpoint, false);
    const message = `FOLD_OPS_TABLE: the table "${tables.opsTable}" has no stream: switch DynamoDB Streams on, with any view type`;
    await expect(connect(endpoint, tables)).rejects.toMatchObject({ code: 'misconfigured', message });
    for (const StreamViewType of ['KEYS_ONLY', 'OLD_IMAGE'] as const) {
      const StreamSpecification = { StreamEnabled: true, StreamViewType };
      await tables.client.send(new UpdateTableCommand({ TableName: tables.opsTable, StreamSpecification }));
      await (await connect(endpoint, tables)).close();
      const off = { StreamEnabled: false };
      await tables.client.send(new UpdateTableCommand({ TableName: tables.opsTable, StreamSpecification: off }));
    }
    await expect(connect(endpoint, tables)).rejects.toMatchObject({ code: 'misconfigured', message });
  });

  dynamodbTest('OPS-2: names every missing table, and every key that is another one', async ({ endpoint }) => {
    await expect(connect(endpoint, { opsTable: 'no-ops', leasesTable: 'no-leases' })).rejects.toMatchObject({
      code: 'misconfigured',
      message: 'FOLD_OPS_TABLE: there is no table "no-ops"; FOLD_LEASES_TABLE: there is no table "no-leases"',
    });
    const { opsTable, leasesTable: leases } = await specTables(endpoint);
    await expect(connect(endpoint, { opsTable: leases, leasesTable: opsTable })).rejects.toMatchObject({
      message: expect.stringMatching(
        /has the key \(fold S, leaseKey S\), and needs \(stream_id S, seq N\).*has the key \(stream_id S, seq N\), and needs/,
      ),
    });
  });

  dynamodbTest('OPS-2: names every right that is missing, and writes nothing to find out', async ({ endpoint }) => {
    const tables = await specTables(endpoint);
    await tables.append('s', 1n);
    const proxy = await startFaultProxy(endpoint);
    try {
      for (const action of ['Scan', 'PutItem', 'DeleteItem', 'GetItem', 'Query']) {
        proxy.add(deny(action));
        const message = expect.stringContaining(`dynamodb:${action} is not allowed on`);
        await expect(connect(proxy.endpoint, tables)).rejects.toMatchObject({ code: 'misconfigured', message });
        proxy.clear();
      }
      proxy.add(throttle(first(4, callsOf('Query', 'GetItem'))));
      await (await connect(proxy.endpoint, tables)).close();
      expect((await tables.leases()).size).toBe(0);
    } finally {
      await proxy.close();
    }
  });

  dynamodbTest(
    'F22: a fold of the same name on another ops table is refused; under another name it is another fold',
    async ({ endpoint }) => {
      const tables = await specTables(endpoint);
      const other = { ...tables, opsTable: `${tables.opsTable}_other` };
      await tables.client.send(
        new CreateTableCommand({
          ...tableDefinition(other.opsTable, OPS_KEY),
          StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' },
        }),
      );
      const feed = await connect(endpoint, tables);
      await tables.append('s', 1n);
      expect((await feed.read(10, 60_000)).changes).toEqual([{ stream: 's', head: 1n }]);
      await feed.close();
      await expect(connect(endpoint, other)).rejects.toMatchObject({
        code: 'misconfigured',
        message: expect.stringContaining(`the fold "fold" follows the table "${tables.opsTable}"`),
      });
      await (await connect(endpoint, other, 'fold-2')).close();
    },
  );

  test('F22: the leases table is made as its definition says', () => {
    expect(leasesTable('leases')).toMatchObject({
      KeySchema: [
        { AttributeName: 'fold', KeyType: 'HASH' },
        { AttributeName: 'leaseKey', KeyType: 'RANGE' },
      ],
      BillingMode: 'PAY_PER_REQUEST',
    });
  });
});
