import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { callsOf, first, loseAnswer, serverTests, startFaultProxy, throttle } from '@tidemark/tools-services/testing';
import { freshRow, type LeaseRow } from './lease-row.ts';
import { LeaseTable } from './lease-table.ts';
import { specClients, specTables } from './spec-tables.ts';

const dynamodbTest = serverTests('dynamodb');

async function open(endpoint: string) {
  const { client, leasesTable } = await specTables(endpoint);
  const table = new LeaseTable(client, leasesTable, 'fold');
  return { client, leasesTable, table };
}

const owned = (row: LeaseRow, owner: string): LeaseRow => ({
  ...row,
  owner,
  counter: row.counter + 1,
  epoch: row.epoch + 1,
});

describe('the leases table', () => {
  dynamodbTest('F22: keeps rows of folds apart, and every field of a row', async ({ endpoint }) => {
    const { client, leasesTable, table } = await open(endpoint);
    const row = { ...owned(freshRow('shard/l/1', '5', 'shard-0'), 'me'), switches: 3 };
    await table.create(row);
    await table.create({ ...row, checkpoint: '9' });
    await new LeaseTable(client, leasesTable, 'other').create(freshRow('shard/l/1', '7'));
    expect(await table.rows()).toEqual(new Map([['shard/l/1', row]]));
    expect(await table.row('nothing')).toBeNull();
  });

  dynamodbTest('FLD-5: of two workers that take one lease, one gets it', async ({ endpoint }) => {
    const { table } = await open(endpoint);
    const seen = freshRow('a', '5');
    await table.create(seen);
    const taken = await Promise.all(['x', 'y', 'z'].map((owner) => table.swap(seen, owned(seen, owner))));
    expect(taken.filter(Boolean).length).toBe(1);
    expect((await table.row('a'))?.epoch).toBe(1);
    expect(await table.swap(null, owned(seen, 'x'))).toBe(taken[0] === true);
  });

  // kills: lease-table.ts: leaseEpoch = :epoch AND leaseOwner = :owner AND leaseCounter < :counter => (leaseEpoch >= :epoch OR leaseOwner = :owner) AND leaseCounter < :counter
  dynamodbTest(
    'F14, FLD-5: an owner that was paused past its lease writes nothing, neither renewal nor checkpoint nor release',
    async ({ endpoint }) => {
      const { table } = await open(endpoint);
      const seen = freshRow('a', '5');
      await table.create(seen);
      const old = owned(seen, 'old');
      expect(await table.swap(seen, old)).toBe(true);
      const next = owned(old, 'new');
      expect(await table.swap(old, next)).toBe(true);
      expect(await table.keep({ ...old, counter: 99, checkpoint: '9' })).toBeNull();
      expect(await table.release({ ...old, counter: 99, checkpoint: '9' })).toBe(false);
      expect(await table.row('a')).toEqual(next);
      // Nor when it calls itself as the new one does.
      expect(await table.keep({ ...old, owner: 'new', counter: 99 })).toBeNull();
    },
  );

  dynamodbTest('FLD-9: an earlier write that arrives after a later one does nothing', async ({ endpoint }) => {
    const { table } = await open(endpoint);
    const seen = freshRow('a', '5');
    await table.create(seen);
    const row = owned(seen, 'me');
    await table.swap(seen, row);
    const later = { ...row, counter: 9, checkpoint: '7' };
    expect(await table.keep(later)).toEqual(later);
    // Who sends it is told what stands there, one higher.
    expect(await table.keep({ ...row, counter: 8, checkpoint: '8' })).toMatchObject({ counter: 10, checkpoint: '8' });
  });

  dynamodbTest('FLD-5: a lease that is given back keeps its checkpoint and is anybody’s', async ({ endpoint }) => {
    const { table } = await open(endpoint);
    const seen = freshRow('a', '5');
    await table.create(seen);
    const row = owned(seen, 'me');
    await table.swap(seen, row);
    expect(await table.release({ ...row, checkpoint: '6' })).toBe(true);
    const free = await table.row('a');
    expect(free).toMatchObject({ owner: null, checkpoint: '6', epoch: 1 });
    expect(await table.release(row)).toBe(false);
    await table.remove(row);
    expect(await table.row('a')).toEqual(free);
    await table.remove(free as LeaseRow);
    expect(await table.row('a')).toBeNull();
  });

  dynamodbTest('F14: a write whose answer is lost is repeated, and counts as done once', async ({ endpoint }) => {
    const { leasesTable, table } = await open(endpoint);
    const proxy = await startFaultProxy(endpoint);
    try {
      const shaky = new LeaseTable(specClients(proxy.endpoint).client, leasesTable, 'fold');
      const seen = freshRow('a', '5');
      const lost = () => proxy.add(loseAnswer(first(1, callsOf('PutItem'))));
      lost();
      await shaky.create(seen);
      lost();
      const row = owned(seen, 'me');
      expect(await shaky.swap(seen, row)).toBe(true);
      lost();
      const next = { ...row, counter: row.counter + 1, checkpoint: '6' };
      expect(await shaky.keep(next)).toEqual(next);
      lost();
      expect(await shaky.release(next)).toBe(true);
      expect(await table.row('a')).toMatchObject({ owner: null, checkpoint: '6' });
      proxy.add(throttle(callsOf('PutItem')));
      await expect(shaky.create(freshRow('b', ''))).rejects.toMatchObject({ code: 'unavailable' });
    } finally {
      await proxy.close();
    }
  });

  dynamodbTest('FLD-5: a row that is none is corrupt, and says which attribute', async ({ endpoint }) => {
    const { client, leasesTable, table } = await open(endpoint);
    const Item = { fold: { S: 'fold' }, leaseKey: { S: 'a' }, leaseCounter: { S: 'x' }, checkpoint: { S: '1' } };
    await client.send(new PutItemCommand({ TableName: leasesTable, Item }));
    await expect(table.rows()).rejects.toMatchObject({
      code: 'corrupt',
      message: 'the leases table: fold fold, leaseKey a: leaseCounter is not a count',
    });
  });
});
