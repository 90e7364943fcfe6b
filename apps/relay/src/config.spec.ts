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

// kills: config.ts: NOT_CARRIED.includes(String(input)) => false
test('OPS-2: an unknown store is told which ones this build carries, and one that only other builds carry is no misspelling', () => {
  expect(problems({ RELAY_STORE: 'mysql' })).toEqual(['RELAY_STORE: must be one of sqlite, postgres, not "mysql"']);
  expect(problems({ RELAY_STORE: 'SQLite' })).toEqual(['RELAY_STORE: must be one of sqlite, postgres, not "SQLite"']);
  expect(problems({ RELAY_STORE: 'dynamodb' })).toEqual([
    'RELAY_STORE: a known store, but this build carries only sqlite and postgres, not "dynamodb"',
  ]);
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
