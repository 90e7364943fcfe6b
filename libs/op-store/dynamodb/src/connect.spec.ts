import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SeededRandom } from '@tidemark/libs-kernel/testing';
import { someOps } from '@tidemark/libs-op-store-contract/testing';
import { serverTests } from '@tidemark/tools-services/testing';
import { connectDynamodb, connectDynamodbLog, type DynamodbOptions } from './connect.ts';
import { SleptTime } from './spec-store.ts';
import { SPEC_AWS, specTables } from './spec-tables.ts';

const dynamodbTest = serverTests('dynamodb');

/** No two may make the same tokens. */
let opened = 0;

function options(endpoint: string, tables: Pick<DynamodbOptions, 'opsTable' | 'registryTable'>): DynamodbOptions {
  const time = new SleptTime();
  return {
    ...SPEC_AWS,
    ...tables,
    endpoint,
    clock: time,
    // A call's end is not slept for: it would come at once.
    sleeper: {
      sleep: (ms, signal) =>
        ms >= 15_000 ? new Promise((resolve) => signal?.addEventListener('abort', () => resolve())) : time.sleep(ms),
    },
    random: new SeededRandom(++opened),
    log: { info: () => {}, warn: () => {} },
    metrics: { round: () => {}, hole: () => {}, collision: () => {} },
  };
}

describe('the stores of a relay in DynamoDB', () => {
  dynamodbTest('RLY-15, RLY-18: open on two tables, and share what they hold with others', async ({ endpoint }) => {
    const { opsTable, registryTable } = await specTables(endpoint);
    const one = await connectDynamodb(options(endpoint, { opsTable, registryTable }));
    const other = await connectDynamodb(options(endpoint, { opsTable, registryTable }));
    await one.opStore.append('s', someOps(3));
    expect((await other.opStore.read('s', 0n, 10)).next).toBe(3n);
    expect(await one.prefixRegistry.register('s', 'aaaa', 'uuid-A')).toEqual({ outcome: 'registered' });
    expect(await other.prefixRegistry.register('s', 'aaaa', 'uuid-B')).toEqual({
      outcome: 'reassigned',
      newPrefix: 'd7rm',
    });
    await one.presenceBoard.announce('s', { machineId: 'm', name: 'Mac', intervalSecs: 300n }, 1000n, 0n);
    expect((await other.presenceBoard.machines('s', 0n, 10)).machines.length).toBe(1);
    await one.close();
    await expect(one.opStore.ping()).rejects.toMatchObject({ code: 'unavailable' });
    await other.opStore.ping();
    await other.opStore.close();
  });

  dynamodbTest('DDP-6: of which the log alone opens for a reader, on its own table', async ({ endpoint }) => {
    const { opsTable } = await specTables(endpoint);
    const { registryTable: _, ...rest } = options(endpoint, { opsTable, registryTable: 'no-such-registry' });
    const log = await connectDynamodbLog({ ...rest, setting: 'FOLD_OPS_TABLE' });
    expect(await log.read('s', 0n, 10)).toEqual({ ops: [], next: 0n });
    await log.close();
    await expect(log.ping()).rejects.toMatchObject({ code: 'unavailable' });
    await expect(
      connectDynamodbLog({ ...rest, opsTable: 'no-such-ops', setting: 'FOLD_OPS_TABLE' }),
    ).rejects.toMatchObject({ code: 'misconfigured', message: 'FOLD_OPS_TABLE: there is no table "no-such-ops"' });
  });

  dynamodbTest('DDP-6: do not open without their tables, and name them', async ({ endpoint }) => {
    const missing = { opsTable: 'no-such-ops', registryTable: 'no-such-registry' };
    await expect(connectDynamodb(options(endpoint, missing))).rejects.toMatchObject({
      code: 'misconfigured',
      message: expect.stringMatching(/no-such-ops.*no-such-registry/),
    });
  });

  dynamodbTest('R47: ask no wall clock, so that none that is wrong matters', async ({ endpoint }) => {
    const time = new SleptTime();
    const clock = {
      monotonic: () => time.monotonic(),
      now: () => {
        throw new Error('a wall clock was asked');
      },
    };
    const stores = await connectDynamodb({ ...options(endpoint, await specTables(endpoint)), clock });
    const { opStore, prefixRegistry, presenceBoard } = stores;
    await opStore.append('s', someOps(2));
    expect(await opStore.erase('s')).toBe(2n);
    await opStore.append('s', someOps(1));
    // A page over two burned seqs.
    expect((await opStore.read('s', 0n, 10)).next).toBe(3n);
    await prefixRegistry.register('s', 'aaaa', 'uuid-A');
    await presenceBoard.announce('s', { machineId: 'm', name: 'Mac', intervalSecs: 300n }, 1000n, 0n);
    await stores.close();
  });

  // kills: connect.ts: client: boundedClient<DynamoClient>(sdk, options.sleeper) }; => client: sdk };
  test('D1: give up a call that nobody answers after 15 s', async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const slept: number[] = [];
    const sleeper = { sleep: async (ms: number) => void slept.push(ms) };
    const tables = { opsTable: 'ops', registryTable: 'registry' };
    try {
      const opening = connectDynamodb({ ...options(`http://127.0.0.1:${port}`, tables), sleeper });
      await expect(opening).rejects.toMatchObject({ code: 'unavailable' });
      expect(slept.filter((ms) => ms === 15_000).length).toBeGreaterThan(1);
    } finally {
      silent.closeAllConnections();
      silent.close();
    }
  });

  dynamodbTest(
    'D1: send a round whose answer is lost again, under its token, and it is stored once',
    async ({ endpoint }) => {
      const { opsTable, registryTable } = await specTables(endpoint);
      const tokens: string[] = [];
      const proxy = createServer((request, response) => {
        void forward(endpoint, request).then(({ sent, status, answer }) => {
          const { ClientRequestToken: token } = JSON.parse(sent) as { ClientRequestToken?: string };
          const isRound =
            request.headers['x-amz-target'] === 'DynamoDB_20120810.TransactWriteItems' && !sent.includes('probe');
          if (isRound) tokens.push(token ?? '');
          if (isRound && tokens.length === 1) response.destroy();
          else response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(answer);
        });
      });
      await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
      const { port } = proxy.address() as AddressInfo;
      const stores = await connectDynamodb(options(`http://127.0.0.1:${port}`, { opsTable, registryTable }));
      try {
        expect(await stores.opStore.append('s', someOps(2))).toEqual([
          { kind: 'stored', seq: 1n },
          { kind: 'stored', seq: 2n },
        ]);
        expect(tokens).toEqual([tokens[0], tokens[0]]);
        expect((await stores.opStore.read('s', 0n, 10)).ops.length).toBe(2);
      } finally {
        await stores.close();
        proxy.closeAllConnections();
        proxy.close();
      }
    },
  );
});

async function forward(endpoint: string, request: IncomingMessage) {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const sent = Buffer.concat(chunks).toString();
  const headers = Object.fromEntries(
    ['x-amz-target', 'content-type', 'authorization', 'x-amz-date'].map((name) => [
      name,
      String(request.headers[name]),
    ]),
  );
  const response = await fetch(endpoint, { method: 'POST', headers, body: sent });
  return { sent, status: response.status, answer: await response.text() };
}
