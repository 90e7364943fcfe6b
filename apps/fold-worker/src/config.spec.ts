import { SettingsProblem, parseSettings, regionRule } from '@tidemark/libs-service-kit';
import { databaseRule, feedOf, feedRule, foldSettings } from './config.ts';

const rules = [databaseRule, feedRule, regionRule('FOLD_OP_STORE'), regionRule('FOLD_VIEWS')];
const parse = (env: Record<string, string>) => parseSettings(foldSettings, 'FOLD_', env, rules);

function problems(env: Record<string, string>): readonly string[] {
  try {
    parse(env);
  } catch (error) {
    if (error instanceof SettingsProblem) return error.problems;
    throw error;
  }
  return [];
}

test.each([
  ['FOLD_OP_STORE', 'mysql'],
  ['FOLD_FEED', 'kafka'],
  ['FOLD_VIEWS', 'SQLite'],
  ['FOLD_OPS_TABLE', 'a b'],
  ['FOLD_NAME', 'a/b'],
  ['FOLD_LEASE_SECS', '1'],
  ['FOLD_SWEEP_SECS', '0'],
  ['FOLD_ADD_ERA_GRACE_SECS', '-1'],
  ['FOLD_PG_POOL_MAX', '0'],
])('OPS-2: %s may not be "%s"', (name, value) => {
  expect(problems({ [name]: value })).toEqual([expect.stringMatching(new RegExp(`^${name}: .*${value}"$`))]);
});

// kills: config.ts: FOLD_FEED ?? (FOLD_OP_STORE === 'dynamodb' ? 'dynamodb-streams' : 'op-store') => FOLD_FEED ?? 'op-store'
test('FLD-4: the feed goes with the log unless it is named', () => {
  const region = { AWS_REGION: 'eu-central-1' };
  expect(feedOf(parse({}))).toBe('op-store');
  expect(feedOf(parse({ FOLD_OP_STORE: 'dynamodb', ...region }))).toBe('dynamodb-streams');
  expect(feedOf(parse({ FOLD_OP_STORE: 'dynamodb', FOLD_FEED: 'dynamodb-streams', ...region }))).toBe(
    'dynamodb-streams',
  );
});

test('OPS-2: a feed that cannot follow the log is refused', () => {
  expect(problems({ FOLD_FEED: 'dynamodb-streams' })).toEqual([expect.stringMatching(/^FOLD_FEED: .*FOLD_OP_STORE/)]);
  expect(problems({ FOLD_FEED: 'op-store', FOLD_OP_STORE: 'dynamodb', AWS_REGION: 'x' })).toEqual([
    'FOLD_FEED: must be dynamodb-streams where FOLD_OP_STORE is dynamodb',
  ]);
});

test('OPS-2: Postgres wants a URL, DynamoDB a region', () => {
  expect(problems({ FOLD_OP_STORE: 'postgres', FOLD_VIEWS: 'postgres' })).toEqual([
    'DATABASE_URL: must be set where FOLD_OP_STORE is postgres',
    'DATABASE_URL: must be set where FOLD_VIEWS is postgres',
  ]);
  expect(problems({ FOLD_VIEWS: 'dynamodb' })).toEqual([expect.stringMatching(/^AWS_REGION: .*FOLD_VIEWS/)]);
});
