import type { PresenceBoard } from '@tidemark/libs-op-store-contract';
import {
  type FaultProxy,
  callsOf,
  deny,
  loseAnswer,
  serverTests,
  startFaultProxy,
} from '@tidemark/tools-services/testing';
import { ManualTime, SeededRandom } from '@tidemark/libs-kernel/testing';
import { dynamodbPrefixRegistry } from './prefix-registry.ts';
import { dynamodbPresenceBoard } from './presence-board.ts';
import { type SpecItem, type SpecTables, specClient, specTables } from './spec-tables.ts';

const dynamodbTest = serverTests('dynamodb');

interface Scene {
  readonly board: PresenceBoard;
  readonly tables: SpecTables;
  readonly proxy: FaultProxy;
}

function boardTest(title: string, run: (scene: Scene) => Promise<void>): void {
  dynamodbTest(title, async ({ endpoint }) => {
    const proxy = await startFaultProxy(endpoint);
    try {
      const tables = await specTables(endpoint);
      const client = specClient(proxy.endpoint);
      await run({ board: dynamodbPresenceBoard({ client, table: tables.registryTable }), tables, proxy });
    } finally {
      await proxy.close();
    }
  });
}

const DAYS_30 = 2_592_000n;
const hello = { machineId: 'm', name: 'a machine', intervalSecs: 300n };
const row = (machineId: string, rest: SpecItem = {}): SpecItem => ({
  stream_id: { S: 's' },
  sk: { S: `machine#${machineId}` },
  name: { S: 'x' },
  last_seen: { N: '100' },
  interval_secs: { N: '20' },
  expires_at: { N: '2592100' },
  ...rest,
});

// kills: presence-board.ts: nowSecs + (nowSecs - forgetBeforeSecs) => nowSecs
boardTest('RLY-15: a row is as other relays write it, with the end of its retention for the table', async (scene) => {
  const { board, tables } = scene;
  await board.announce('s', hello, 1_790_000_000n, 1_790_000_000n - DAYS_30);
  expect(await tables.items(tables.registryTable)).toEqual([
    {
      stream_id: { S: 's' },
      sk: { S: 'machine#m' },
      name: { S: 'a machine' },
      last_seen: { N: '1790000000' },
      interval_secs: { N: '300' },
      expires_at: { N: '1792592000' },
    },
  ]);
});

boardTest('RLY-15, D14: a row past its retention is not listed, though the table still has it', async (scene) => {
  const { board, tables } = scene;
  await board.announce('s', hello, 1000n, 1000n - DAYS_30);
  const after = 1000n + DAYS_30 + 1n;
  expect((await board.machines('s', after - DAYS_30, 100)).machines).toEqual([]);
  expect((await board.machines('s', after - 1n - DAYS_30, 100)).machines).toHaveLength(1);
  expect(await tables.items(tables.registryTable)).toHaveLength(1);
});

boardTest('RLY-15: a machine with the id of a replica disturbs no claim, and is disturbed by none', async (scene) => {
  const { board, tables } = scene;
  const time = new ManualTime();
  const parts = { client: tables.client, clock: time, sleeper: time, random: new SeededRandom(1) };
  const registry = dynamodbPrefixRegistry({ ...parts, table: tables.registryTable });
  await registry.register('s', 'aaaa', 'm');
  await board.announce('s', hello, 100n, 0n);
  expect(await registry.register('s', 'aaaa', 'm')).toEqual({ outcome: 'registered' });
  expect((await board.machines('s', 0n, 100)).machines).toEqual([{ ...hello, lastSeenSecs: 100n }]);
});

// kills: presence-board.ts: isCut || seen.length > limit => seen.length > limit
boardTest('RLY-15: a list is read in two pages at most, and says that it was cut there', async (scene) => {
  const { board, tables, proxy } = scene;
  // Rows far larger than announcements may be, so that few of them fill two pages of 1 MB.
  for (let i = 0; i < 8; i++)
    await tables.put(tables.registryTable, row(`m${i}`, { name: { S: 'x'.repeat(300_000) } }));
  const { machines, truncated } = await board.machines('s', 0n, 100);
  expect(machines.length).toBeGreaterThan(4);
  expect(machines.length).toBeLessThan(8);
  expect(truncated).toBe(true);
  expect(proxy.traffic().requests).toEqual({ Query: 2 });
});

boardTest('RLY-15: equal times are ordered by the bytes of the id, also above U+FFFF', async ({ board }) => {
  for (const machineId of ['\u{1f511}', '\uffee', 'z', 'Z'])
    await board.announce('s', { ...hello, machineId }, 100n, 0n);
  const { machines } = await board.machines('s', 0n, 100);
  expect(machines.map(({ machineId }) => machineId)).toEqual(['Z', 'z', '\uffee', '\u{1f511}']);
});

boardTest('RLY-15: a row without the end of its retention is listed', async ({ board, tables }) => {
  const { expires_at: _, ...bare } = row('m');
  await tables.put(tables.registryTable, bare);
  expect((await board.machines('s', 0n, 100)).machines).toHaveLength(1);
});

boardTest('RLY-15: a row that lacks an attribute, or has one of another type, is a loud error', async (scene) => {
  const { board, tables } = scene;
  for (const attribute of ['name', 'last_seen', 'interval_secs', 'expires_at']) {
    await tables.put(tables.registryTable, row('m', { [attribute]: { BOOL: true } }));
    // Without a number as its time the row passes no filter.
    const listed = board.machines('s', 0n, 100);
    if (attribute === 'last_seen') expect((await listed).machines).toEqual([]);
    else await expect(listed).rejects.toMatchObject({ code: 'corrupt', message: expect.stringContaining(attribute) });
  }
});

boardTest('RLY-15: an announcement that nobody answers may be stored', async ({ board, proxy }) => {
  const heal = proxy.add(loseAnswer(callsOf('PutItem')));
  await expect(board.announce('s', hello, 100n, 0n)).rejects.toMatchObject({
    code: 'unavailable',
    outcome: 'unknown',
  });
  heal();
  expect((await board.machines('s', 0n, 100)).machines).toHaveLength(1);
});

boardTest('RLY-15: a right that is taken away while the relay runs is named', async ({ board, proxy }) => {
  proxy.add(deny('PutItem'));
  proxy.add(deny('Query'));
  await expect(board.announce('s', hello, 100n, 0n)).rejects.toMatchObject({
    code: 'misconfigured',
    message: expect.stringContaining('dynamodb:PutItem'),
  });
  await expect(board.machines('s', 0n, 100)).rejects.toMatchObject({
    code: 'misconfigured',
    message: expect.stringContaining('dynamodb:Query'),
  });
});

boardTest('RLY-15: a stream id that no table can hold has no machines, and takes none', async ({ board, proxy }) => {
  for (const stream of ['', 'x'.repeat(2049)]) {
    expect(await board.machines(stream, 0n, 100)).toEqual({ machines: [], truncated: false });
    await expect(board.announce(stream, hello, 100n, 0n)).rejects.toMatchObject({ code: 'malformed' });
  }
  expect(proxy.traffic().requests).toEqual({});
});
