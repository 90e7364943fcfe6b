import type { PublishOptions, PublishOutcome, Topic } from '@tidemark/libs-broker-contract';
import type { DedupeKey } from '@tidemark/libs-dedupe-contract';
import type { Meddle } from './gateway.ts';

/** An ingest flow that is wrong in one way. */
export interface IngestMutant {
  readonly meddle?: Meddle;
  readonly leaseMs?: number;
  /** The case in which it must be caught. */
  readonly caughtIn: string;
}

const withoutKey: Meddle = (parts) => ({
  ...parts,
  broker: {
    bodyBytesMax: parts.broker.bodyBytesMax,
    publish: (topic: Topic, body: Uint8Array) => parts.broker.publish(topic, body),
  },
});

/** A publish of which nothing is known is taken for refused, so that its claim is given back at once. */
const releaseUnknown: Meddle = (parts) => ({
  ...parts,
  broker: {
    bodyBytesMax: parts.broker.bodyBytesMax,
    publish: async (topic: Topic, body: Uint8Array, options?: PublishOptions): Promise<PublishOutcome> => {
      const outcome = await parts.broker.publish(topic, body, options);
      return outcome.kind === 'unavailable' ? { kind: 'full', detail: 'told so' } : outcome;
    },
  },
});

const commitFirst: Meddle = (parts) => ({
  ...parts,
  deduplicator: {
    ...parts.deduplicator,
    reserve: async (keys: readonly DedupeKey[], leaseMs: number) => {
      const claims = await parts.deduplicator.reserve(keys, leaseMs);
      await parts.deduplicator.commit(claims, 0).catch(() => {});
      return claims;
    },
  },
});

export const INGEST_MUTANTS: Readonly<Record<string, IngestMutant>> = {
  'publishes-without-the-idempotency-key': { meddle: withoutKey, caughtIn: 'ingest-one-trouble' },
  'releases-the-claim-of-an-unknown-publish': { meddle: releaseUnknown, caughtIn: 'ingest-late' },
  'commits-before-it-publishes': { meddle: commitFirst, caughtIn: 'ingest-one-trouble' },
  'holds-claims-for-longer-than-the-window-allows': { leaseMs: 100_000, caughtIn: 'ingest-one-trouble' },
};
