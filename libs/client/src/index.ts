export type { PushOutcome } from './push.ts';
export type { Page, PullOptions } from './pull.ts';
export type { TailOptions } from './tail-poll.ts';
export * from './fold-client.ts';
export * from './ingest-client.ts';
export * from './relay-client.ts';
export type { CallOptions, RetryRules, ServiceOptions } from './service.ts';
export * from './service-error.ts';
export * from './world.ts';
