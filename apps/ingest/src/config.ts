import path from 'node:path';
import { z } from 'zod';
import {
  type Settings,
  address,
  dynamodbSettings,
  seconds,
  sharedSettings,
  tableName,
} from '@tidemark/libs-service-kit';

const whole = (bounds: { readonly min: number; readonly max: number; readonly default: number }) =>
  z.coerce.number().int().min(bounds.min).max(bounds.max).default(bounds.default);

export const ingestSettings = {
  ...sharedSettings,
  INGEST_ADDR: address.prefault('127.0.0.1:8788').describe('listen address'),
  INGEST_SETTINGS_DIR: z
    .string()
    .min(1)
    .optional()
    .describe('folder of tenants and their tables; unset: tenant 0 with one open table, events'),
  INGEST_DEDUPE: z
    .enum(['embedded', 'dynamodb'])
    .default('embedded')
    .describe('where ids are remembered: embedded (TIDEMARK_DATA, for one process) or dynamodb'),
  INGEST_DEDUPE_TABLE: tableName.default('tidemark_dedupe').describe('DynamoDB table of ids'),
  INGEST_DEDUPE_TIMEOUT_MS: whole({ min: 10, max: 60_000, default: 250 }).describe(
    'milliseconds that one call to the DynamoDB table may take with its repeats; longer is a 503',
  ),
  INGEST_DEDUPE_CONCURRENCY: whole({ min: 1, max: 10_000, default: 64 }).describe(
    'calls to the DynamoDB table at the same time that claim ids',
  ),
  ...dynamodbSettings,
  INGEST_DEDUPE_LEASE_SECS: seconds({ min: 1, max: 3600, default: 30 }).describe(
    'seconds that a claimed id is held for its request',
  ),
  INGEST_QUEUE_BYTES: z
    .string()
    .regex(/^[1-9]\d{0,17}$/, 'must be a number of bytes above 0')
    .transform(BigInt)
    .optional()
    .describe('bytes that the queue of one tenant may hold; unset: 50 GiB in the embedded broker, 1 GiB in NATS'),
};

export type IngestSettings = Settings<typeof ingestSettings>;

/** The embedded queue is a file in this folder, shared with the relay. */
export function queueFolder(settings: IngestSettings): string {
  return path.join(settings.TIDEMARK_DATA, 'queue');
}

export function dedupeFolder(settings: IngestSettings): string {
  return path.join(settings.TIDEMARK_DATA, 'dedupe');
}

const GIB = 1024n ** 3n;

/** The embedded queue takes what it holds; NATS takes a budget out of its store when the queue is opened. */
export function queueBytes({ INGEST_QUEUE_BYTES, TIDEMARK_BROKER }: IngestSettings): bigint {
  return INGEST_QUEUE_BYTES ?? (TIDEMARK_BROKER === 'nats' ? GIB : 50n * GIB);
}
