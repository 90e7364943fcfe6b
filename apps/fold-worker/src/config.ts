import path from 'node:path';
import { z } from 'zod';
import {
  type Settings,
  type SettingsRule,
  address,
  dynamodbSettings,
  seconds,
  secret,
  sharedSettings,
  tableName,
} from '@tidemark/libs-service-kit';

const STORES = ['sqlite', 'postgres', 'dynamodb'] as const;
const FEEDS = ['op-store', 'dynamodb-streams'] as const;

const oneOf = <const Names extends readonly [string, ...string[]]>(names: Names) =>
  z.enum(names, { error: `must be one of ${names.join(', ')}` });

const whole = (bounds: { readonly min: number; readonly max: number; readonly default: number }) =>
  z.coerce.number().int().min(bounds.min).max(bounds.max).default(bounds.default);

export const foldSettings = {
  ...sharedSettings,
  FOLD_ADDR: address.prefault('127.0.0.1:8789').describe('listen address'),
  FOLD_OP_STORE: oneOf(STORES)
    .default('sqlite')
    .describe(`the op log that is folded: ${STORES.join(', ')}`),
  FOLD_SQLITE_FILE: z.string().min(1).optional().describe('file of the op log; unset: relay.sqlite in TIDEMARK_DATA'),
  FOLD_OPS_TABLE: tableName.default('tidemark_ops').describe('DynamoDB table of the op log'),
  FOLD_FEED: oneOf(FEEDS)
    .optional()
    .describe('where changes are seen; unset: dynamodb-streams for a log in DynamoDB, else op-store'),
  FOLD_VIEWS: oneOf(STORES)
    .default('sqlite')
    .describe(`where documents and marks live: ${STORES.join(', ')}`),
  FOLD_VIEWS_TABLE: tableName.default('tidemark_views').describe('DynamoDB table of documents and marks'),
  FOLD_LEASES_TABLE: tableName.default('tidemark_leases').describe('DynamoDB table of shard leases and checkpoints'),
  FOLD_REDUCERS: z
    .string()
    .min(1)
    .optional()
    .describe('file that declares what is folded (JSON, or a module); unset: events alone'),
  FOLD_NAME: z
    .string()
    .regex(/^[\w.-]{1,64}$/, 'must be 1 to 64 letters, digits, or one of . _ -')
    .default('fold')
    .describe('folds of one log into different views have different names'),
  FOLD_LEASE_SECS: seconds({ min: 3, max: 600, default: 15 }).describe(
    'seconds after which another worker takes the shard of one that has gone silent',
  ),
  FOLD_SWEEP_SECS: seconds({ min: 10, max: 604_800, default: 600 }).describe(
    'seconds between two comparisons of every mark with the head of its stream',
  ),
  FOLD_CENSUS_SECS: seconds({ min: 0, max: 31_536_000, default: 604_800 }).describe(
    'seconds between two scans of a DynamoDB log for streams that nothing told of; 0: only when changes were lost',
  ),
  FOLD_ADD_ERA_GRACE_SECS: seconds({ min: 0, max: 604_800, default: 0 }).describe(
    'seconds that a missing op is waited for where relays that take seqs by ADD still write; 0: there are none',
  ),
  DATABASE_URL: secret(
    z
      .string()
      .regex(/^postgres(ql)?:\/\//, 'must begin with postgres://')
      .optional()
      .describe('the Postgres database, postgres://user:password@host:port/database?sslmode=require'),
  ),
  FOLD_PG_POOL_MAX: whole({ min: 1, max: 1000, default: 8 }).describe(
    'connections to Postgres, for the log and the views each',
  ),
  FOLD_PG_CA_FILE: z
    .string()
    .min(1)
    .optional()
    .describe('PEM file of certificates that Postgres may have beside the usual'),
  ...dynamodbSettings,
};

export type FoldSettings = Settings<typeof foldSettings>;

export type FeedName = (typeof FEEDS)[number];

/** What is asked for, or else what goes with the log. */
export function feedOf({ FOLD_FEED, FOLD_OP_STORE }: Pick<FoldSettings, 'FOLD_FEED' | 'FOLD_OP_STORE'>): FeedName {
  return FOLD_FEED ?? (FOLD_OP_STORE === 'dynamodb' ? 'dynamodb-streams' : 'op-store');
}

/** A stream of DynamoDB tells of its table alone, and the table itself cannot say what changed. */
export const feedRule: SettingsRule = ({ FOLD_FEED, FOLD_OP_STORE = 'sqlite' }) => {
  if (FOLD_FEED === 'dynamodb-streams' && FOLD_OP_STORE !== 'dynamodb')
    return ['FOLD_FEED: dynamodb-streams follows a log in DynamoDB alone: set FOLD_OP_STORE to dynamodb'];
  if (FOLD_FEED === 'op-store' && FOLD_OP_STORE === 'dynamodb')
    return ['FOLD_FEED: must be dynamodb-streams where FOLD_OP_STORE is dynamodb'];
  return [];
};

/** Postgres asks for a place; no place is a good default. */
export const databaseRule: SettingsRule = (given) =>
  ['FOLD_OP_STORE', 'FOLD_VIEWS']
    .filter((choice) => given[choice] === 'postgres' && given.DATABASE_URL === undefined)
    .map((choice) => `DATABASE_URL: must be set where ${choice} is postgres`);

export function opLogFile(settings: FoldSettings): string {
  return settings.FOLD_SQLITE_FILE ?? path.join(settings.TIDEMARK_DATA, 'relay.sqlite');
}

export function viewsFile(settings: FoldSettings): string {
  return path.join(settings.TIDEMARK_DATA, 'views.sqlite');
}

/** The embedded queue is a file in this folder, shared with the relay: through it relays tell of their appends. */
export function queueFolder(settings: FoldSettings): string {
  return path.join(settings.TIDEMARK_DATA, 'queue');
}
