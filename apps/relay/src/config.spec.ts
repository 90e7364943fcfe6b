import { SettingsProblem, parseSettings } from '@tidemark/libs-service-kit';
import { databaseRule, relaySettings } from './config.ts';

function problems(env: Record<string, string>): readonly string[] {
  try {
    parseSettings(relaySettings, 'RELAY_', env, [databaseRule]);
  } catch (error) {
    if (error instanceof SettingsProblem) return error.problems;
    throw error;
  }
  return [];
}

test('OPS-2: an unknown store is told which ones there are', () => {
  const known = 'RELAY_STORE: must be one of sqlite, postgres, dynamodb';
  expect(problems({ RELAY_STORE: 'mysql' })).toEqual([`${known}, not "mysql"`]);
  expect(problems({ RELAY_STORE: 'DynamoDB' })).toEqual([`${known}, not "DynamoDB"`]);
});

test.each([
  ['RELAY_DYNAMODB_MAX_OPS_PER_ROUND', '0'],
  ['RELAY_DYNAMODB_MAX_OPS_PER_ROUND', '50'],
  ['RELAY_DYNAMODB_MAX_OPS_PER_ROUND', 'x'],
  ['RELAY_CONTENTION_ROUNDS', '0'],
  ['RELAY_DYNAMODB_TABLE', 'a b'],
  ['RELAY_DYNAMODB_REGISTRY_TABLE', 'ab'],
  ['RELAY_DYNAMODB_LEGACY_HOLES', 'skip'],
  ['RELAY_DYNAMODB_LONG_RUNS', 'yes'],
  ['DYNAMODB_ENDPOINT', '127.0.0.1:8000'],
])('OPS-2: %s may not be "%s"', (name, value) => {
  expect(problems({ [name]: value })).toEqual([expect.stringMatching(new RegExp(`^${name}: .*${value}"$`))]);
});

// kills: config.ts: .default('tidemark_ops') => .default('tidemark')
test('RLY-8: a transaction carries 49 ops unless it is told otherwise', () => {
  expect(parseSettings(relaySettings, 'RELAY_', {})).toMatchObject({
    RELAY_DYNAMODB_TABLE: 'tidemark_ops',
    RELAY_DYNAMODB_REGISTRY_TABLE: 'tidemark_registry',
    RELAY_DYNAMODB_MAX_OPS_PER_ROUND: 49,
    RELAY_DYNAMODB_LEGACY_HOLES: 'hold',
    RELAY_DYNAMODB_LONG_RUNS: false,
  });
});

test('OPS-2: Postgres needs to be told where it is, and is not asked for otherwise', () => {
  expect(problems({ RELAY_STORE: 'postgres' })).toEqual(['DATABASE_URL: must be set where RELAY_STORE is postgres']);
  expect(problems({ RELAY_STORE: 'postgres', DATABASE_URL: 'postgres://h/d' })).toEqual([]);
  expect(problems({})).toEqual([]);
});

test.each(['', '0', '301', '-1', '1.5', 'x'])(
  'RLY-10: a deadline of "%s" seconds is the default or a problem',
  (text) => {
    const told = problems({ RELAY_PUSH_DEADLINE_SECS: text });
    if (text === '') expect(told).toEqual([]);
    else expect(told).toEqual([expect.stringMatching(/^RELAY_PUSH_DEADLINE_SECS: /)]);
  },
);
