import path from 'node:path';
import { z } from 'zod';
import {
  type Settings,
  type SettingsRule,
  address,
  corsOrigins,
  dynamodbSettings,
  onOff,
  seconds,
  secret,
  sharedSettings,
  tableName,
} from '@tidemark/libs-service-kit';

const whole = (bounds: { readonly min: number; readonly max: number; readonly default: number }) =>
  z.coerce.number().int().min(bounds.min).max(bounds.max).default(bounds.default);

const STORES = ['sqlite', 'postgres', 'dynamodb'] as const;

/** PostgreSQL asks for a place; no place is a good default. */
export const databaseRule: SettingsRule = (given) =>
  given.RELAY_STORE === 'postgres' && given.DATABASE_URL === undefined
    ? ['DATABASE_URL: must be set where RELAY_STORE is postgres']
    : [];

export const relaySettings = {
  ...sharedSettings,
  RELAY_ADDR: address.prefault('127.0.0.1:8787').describe('listen address'),
  RELAY_STORE: z
    .enum(STORES, { error: `must be one of ${STORES.join(', ')}` })
    .default('sqlite')
    .describe(`the op log: ${STORES.join(', ')}`),
  RELAY_SQLITE_FILE: z.string().min(1).optional().describe('file of the op log; unset: relay.sqlite in TIDEMARK_DATA'),
  DATABASE_URL: secret(
    z
      .string()
      .regex(/^postgres(ql)?:\/\//, 'must begin with postgres://')
      .optional()
      .describe('the Postgres database, postgres://user:password@host:port/database?sslmode=require'),
  ),
  RELAY_PG_POOL_MAX: whole({ min: 1, max: 1000, default: 16 }).describe('connections to Postgres'),
  RELAY_PG_ACQUIRE_TIMEOUT_SECS: seconds({ min: 1, max: 300, default: 30 }).describe(
    'seconds that a call waits for a connection to Postgres',
  ),
  RELAY_PG_CA_FILE: z
    .string()
    .min(1)
    .optional()
    .describe('PEM file of certificates that Postgres may have beside the usual'),
  RELAY_DYNAMODB_TABLE: tableName.default('tidemark_ops').describe('DynamoDB table of ops, claims and counters'),
  RELAY_DYNAMODB_REGISTRY_TABLE: tableName
    .default('tidemark_registry')
    .describe('DynamoDB table of prefixes and presence'),
  RELAY_DYNAMODB_MAX_OPS_PER_ROUND: whole({ min: 1, max: 49, default: 49 }).describe(
    'ops that one transaction carries; 1 while a relay or reader of another make shares the table',
  ),
  RELAY_CONTENTION_ROUNDS: whole({ min: 1, max: 10_000, default: 100 }).describe(
    'transactions that a push to DynamoDB may lose to others in a row; one more is a 503',
  ),
  RELAY_DYNAMODB_LEGACY_HOLES: z
    .enum(['hold', 'pass'])
    .default('hold')
    .describe('at missing ops above a counter that was lost: hold, or pass (only Tidemark may write the table)'),
  RELAY_DYNAMODB_LONG_RUNS: onOff('off').describe(
    'on: long runs of missing ops are judged by their end (only Tidemark may write the table)',
  ),
  ...dynamodbSettings,
  RELAY_PUSH_DEADLINE_SECS: seconds({ min: 1, max: 300, default: 20 }).describe(
    'seconds after which a push is answered, whatever became of it',
  ),
  RELAY_QUEUE_PUSHES: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_000_000)
    .default(4096)
    .describe('pushes that may wait to be written; more are refused with 503'),
  RELAY_QUEUE_BYTES: z.coerce
    .number()
    .int()
    .min(1)
    .default(64 * 1024 * 1024)
    .describe('bytes of the pushes that may wait to be written'),
  RELAY_STRICT_CURSOR: z
    .enum(['0', '1'])
    .transform((digit) => digit === '1')
    .prefault('0')
    .describe('1: a pull with a cursor above the head is answered 409; 0: with an empty page'),
  RELAY_TAIL_READERS: whole({ min: 1, max: 1_000_000, default: 8000 }).describe(
    'long polls and streams of events at the same time; more are refused with 503',
  ),
  RELAY_TAIL_POLL_MS: whole({ min: 10, max: 60_000, default: 200 }).describe(
    'milliseconds between two looks for appends of other relays, while somebody waits and nothing tells of them',
  ),
  RELAY_TAIL_TOLD_POLL_MS: whole({ min: 10, max: 600_000, default: 2000 }).describe(
    'the same, while Postgres or the broker tells of them',
  ),
  RELAY_TAIL_HEARTBEAT_MS: whole({ min: 100, max: 60_000, default: 15_000 }).describe(
    'milliseconds of silence after which a stream of events says that it is alive',
  ),
  RELAY_TAIL_SLOW_SECS: seconds({ min: 1, max: 3600, default: 30 }).describe(
    'seconds after which a reader of events that takes nothing is cut off; it can resume',
  ),
  RELAY_CORS_ORIGINS: corsOrigins
    .optional()
    .describe('origins whose pages may use the relay from a browser, with commas, or *; unset: none'),
  RELAY_INTAKE: onOff('on').describe('on: events of the broker become ops of the log'),
};

export type RelaySettings = Settings<typeof relaySettings>;

export function sqliteFile(settings: RelaySettings): string {
  return settings.RELAY_SQLITE_FILE ?? path.join(settings.TIDEMARK_DATA, 'relay.sqlite');
}

/** The embedded queue is a file in this folder, shared with ingest. */
export function queueFolder(settings: RelaySettings): string {
  return path.join(settings.TIDEMARK_DATA, 'queue');
}
