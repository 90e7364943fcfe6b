import { dynamodbPlace, dynamodbSettings, regionRule } from './dynamodb-settings.ts';
import { parseSettings } from './settings.ts';

const placeOf = (env: Record<string, string>) => dynamodbPlace(parseSettings(dynamodbSettings, 'X_', env));

// kills: dynamodb-settings.ts: return isLoopback(new URL(endpoint).hostname => return !isLoopback(new URL(endpoint).hostname
test.each([
  [{}, false],
  [{ DYNAMODB_ENDPOINT: 'http://127.0.0.1:8000' }, true],
  [{ DYNAMODB_ENDPOINT: 'http://localhost:8000' }, true],
  [{ DYNAMODB_ENDPOINT: 'http://[::1]:8000' }, true],
  [{ DYNAMODB_ENDPOINT: 'http://dynamodb:8000' }, false],
  [{ DYNAMODB_ENDPOINT: 'http://127.0.0.1:8000', AWS_ACCESS_KEY_ID: 'key' }, false],
  [{ DYNAMODB_ENDPOINT: 'http://127.0.0.1:8000', AWS_PROFILE: 'mine' }, false],
])('SEC-1: with %j made-up credentials are used: %s', (env, made) => {
  expect(placeOf(env).credentials !== undefined).toBe(made);
});

test('a stand-in has a region though none is given, and AWS is in the one that is', () => {
  expect(placeOf({ DYNAMODB_ENDPOINT: 'http://dynamodb:8000' }).region).toBe('us-east-1');
  expect(placeOf({ AWS_REGION: 'eu-central-1' })).toEqual({
    endpoint: undefined,
    region: 'eu-central-1',
    credentials: undefined,
  });
});

// kills: dynamodb-settings.ts: && given.DYNAMODB_ENDPOINT === undefined => && true
test('OPS-2: DynamoDB needs a region or a stand-in, and is not asked for otherwise', () => {
  const rule = regionRule('X_STORE');
  expect(rule({ X_STORE: 'dynamodb' })).toEqual([
    'AWS_REGION: must be set where X_STORE is dynamodb (or DYNAMODB_ENDPOINT, for a stand-in)',
  ]);
  expect(rule({ X_STORE: 'dynamodb', AWS_REGION: 'eu-central-1' })).toEqual([]);
  expect(rule({ X_STORE: 'dynamodb', DYNAMODB_ENDPOINT: 'http://127.0.0.1:8000' })).toEqual([]);
  expect(rule({})).toEqual([]);
});
