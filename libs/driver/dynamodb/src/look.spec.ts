import { SeededRandom } from '@tidemark/libs-kernel/testing';
import type { DynamoClient } from './client.ts';
import { LOOKS_MAX, shapeOf, unthrottled } from './look.ts';
import { tableDefinition } from './tables.ts';

const WANTED = tableDefinition('ops', [
  ['stream_id', 'S'],
  ['seq', 'N'],
]);

const named = (name: string, message = 'said') => Object.assign(new Error(message), { name });

/** A client of a table that is like this, or throws. */
function described(answer: object | Error): DynamoClient {
  const send = async () => {
    if (answer instanceof Error) throw answer;
    return { Table: answer };
  };
  return { send: send as DynamoClient['send'] };
}

describe('a look at a table', () => {
  it('OPS-2: finds it fit when it is active and of the key that is wanted', async () => {
    for (const TableStatus of ['ACTIVE', 'UPDATING']) {
      const table = { ...WANTED, TableStatus };
      expect(await shapeOf(described(table), WANTED)).toEqual({ kind: 'fit', table });
    }
    await expect(shapeOf(described({ ...WANTED, TableStatus: 'CREATING' }), WANTED)).rejects.toMatchObject({
      code: 'unavailable',
      message: 'the table "ops" is not active yet',
    });
  });

  // kills: look.ts: if (has !== needs) => if (false)
  it('OPS-2: finds it unfit when it is not there, or of another key, and says so', async () => {
    expect(await shapeOf(described(named('ResourceNotFoundException')), WANTED)).toEqual({
      kind: 'unfit',
      problem: 'there is no table "ops"',
    });
    const texts = tableDefinition('ops', [
      ['stream_id', 'S'],
      ['seq', 'S'],
    ]);
    expect(await shapeOf(described({ ...texts, TableStatus: 'ACTIVE' }), WANTED)).toEqual({
      kind: 'unfit',
      problem: 'the table "ops" has the key (stream_id S, seq S), and needs (stream_id S, seq N)',
    });
    const alone = tableDefinition('ops', [['stream_id', 'S']]);
    expect(await shapeOf(described({ ...alone, TableStatus: 'ACTIVE' }), WANTED)).toMatchObject({
      problem: expect.stringContaining('has the key (stream_id S),'),
    });
  });

  it('OPS-2: names the action that may not be done, as DynamoDB names it', async () => {
    const said = named('AccessDeniedException', 'not authorized to perform: dynamodb:Describe on resource: ops');
    expect(await shapeOf(described(said), WANTED)).toEqual({
      kind: 'unknown',
      problem: 'dynamodb:Describe is not allowed on the table "ops"',
    });
    expect(await shapeOf(described(named('AccessDeniedException')), WANTED)).toMatchObject({
      problem: 'dynamodb:DescribeTable is not allowed on the table "ops"',
    });
  });

  // kills: look.ts: if (fault.code !== 'unavailable' || looks === LOOKS_MAX) throw fault; => throw fault;
  it('OPS-2: is repeated while it is throttled, after longer and longer waits, and ends as unavailable', async () => {
    const waits: number[] = [];
    const parts = { sleeper: { sleep: async (ms: number) => void waits.push(ms) }, random: new SeededRandom(1) };
    let throttles = 2;
    const look = async (): Promise<string> => {
      if (throttles-- > 0) throw named('ThrottlingException');
      return 'seen';
    };
    expect(await unthrottled(parts, '"ops"', look)).toBe('seen');
    expect(waits).toHaveLength(2);
    throttles = Infinity;
    await expect(unthrottled(parts, '"ops"', look)).rejects.toMatchObject({
      code: 'unavailable',
      message: '"ops" takes no more now (ThrottlingException: said)',
    });
    expect(waits).toHaveLength(2 + LOOKS_MAX - 1);
  });

  it('OPS-2: is not repeated when it is refused; without credentials it says which ones would do', async () => {
    const parts = { sleeper: { sleep: () => Promise.reject(new Error('slept')) }, random: new SeededRandom(1) };
    const refused = (name: string) => unthrottled(parts, '"ops"', () => Promise.reject(named(name)));
    await expect(refused('ResourceNotFoundException')).rejects.toMatchObject({ code: 'misconfigured' });
    await expect(refused('CredentialsProviderError')).rejects.toMatchObject({
      code: 'misconfigured',
      message: expect.stringMatching(/^no AWS credentials were found: AWS_ACCESS_KEY_ID .* \(said\)$/),
    });
  });
});
