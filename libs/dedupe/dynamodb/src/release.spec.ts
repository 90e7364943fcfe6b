import type { Claim } from '@tidemark/libs-dedupe-contract';
import { ScriptedTable, conditionFailed, keyNameOf, keyOf, sdkError, throttle } from './spec-table.ts';

const claims: Claim[] = ['a', 'b', 'c'].map((id) => ({ status: 'claimed', key: keyOf(id), token: 'aabb' }));

describe('a release', () => {
  test('DDP-4: is a delete under the condition that token and state are as they were', async () => {
    const table = new ScriptedTable();
    await (await table.open()).release([...claims.slice(0, 1), { status: 'duplicate', key: keyOf('b') }]);
    expect(table.sent).toEqual([
      {
        name: 'DeleteItem',
        input: {
          TableName: 'ids',
          Key: { pk: { S: 'acme/clicks/a' } },
          ConditionExpression: 'tk = :tk AND st = :pending',
          ExpressionAttributeValues: { ':tk': { B: Buffer.from('aabb', 'hex') }, ':pending': { N: '1' } },
        },
      },
    ]);
  });

  test('DDP-4: a claim that is not ours any more is as good as released', async () => {
    const table = new ScriptedTable(() => {
      throw conditionFailed();
    });
    await (await table.open()).release(claims);
    expect(table.keys('DeleteItem')).toEqual(['a', 'b', 'c']);
  });

  // kills: map-error.ts: faults.find(({ code }) => code !== 'unavailable') ?? faults[0] => faults[0]
  test('DDP-6: every claim is attempted; a missing table is not unavailable, and every fault stays reachable', async () => {
    const table = new ScriptedTable((call) => {
      if (keyNameOf(call) === 'a') throw throttle();
      if (keyNameOf(call) === 'b') throw sdkError('ResourceNotFoundException');
    });
    const store = await table.open({ attemptsMax: 1 });
    await expect(store.release(claims)).rejects.toMatchObject({
      code: 'misconfigured',
      outcome: 'unknown',
      cause: { errors: [{ code: 'unavailable' }, { code: 'misconfigured' }] },
    });
    expect(table.keys('DeleteItem')).toEqual(['a', 'b', 'c']);
  });
});
