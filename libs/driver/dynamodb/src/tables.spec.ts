import type { DynamoClient } from './client.ts';
import { createTable, keyText, tableDefinition } from './tables.ts';

const DEFINITION = tableDefinition('ops', [
  ['stream_id', 'S'],
  ['seq', 'N'],
]);

/** Answers DescribeTable with one status after another, the last for ever. */
function tableThat(statuses: string[], makes: () => void = () => {}): DynamoClient {
  const send = async (command: object) => {
    if (command.constructor.name === 'CreateTableCommand') return makes();
    return { Table: { TableStatus: statuses.length > 1 ? statuses.shift() : statuses[0] } };
  };
  return { send: send as DynamoClient['send'] };
}

function waits() {
  const slept: number[] = [];
  return { slept, sleep: async (ms: number) => void slept.push(ms) };
}

test('RLY-18: a table is made by its key, and paid by the request', () => {
  expect(keyText(DEFINITION)).toBe('stream_id S, seq N');
  expect(DEFINITION).toMatchObject({
    TableName: 'ops',
    KeySchema: [{ KeyType: 'HASH' }, { KeyType: 'RANGE' }],
    BillingMode: 'PAY_PER_REQUEST',
  });
});

test('RLY-18: one that is made is waited for, also when another process makes it; one that never comes is given up', async () => {
  const sleeper = waits();
  expect(await createTable(tableThat(['CREATING', 'CREATING', 'ACTIVE']), DEFINITION, sleeper)).toBe(true);
  expect(sleeper.slept).toHaveLength(2);
  const inUse = () => {
    throw Object.assign(new Error('in use'), { name: 'ResourceInUseException' });
  };
  expect(await createTable(tableThat(['CREATING', 'ACTIVE'], inUse), DEFINITION, sleeper)).toBe(false);
  expect(sleeper.slept).toHaveLength(3);
  await expect(createTable(tableThat(['CREATING']), DEFINITION, waits())).rejects.toMatchObject({
    code: 'unavailable',
    message: 'the table "ops" is not active after 120 s',
  });
  const denied = () => {
    throw Object.assign(new Error('no'), { name: 'AccessDeniedException' });
  };
  await expect(createTable(tableThat(['ACTIVE'], denied), DEFINITION, sleeper)).rejects.toThrow('no');
});
