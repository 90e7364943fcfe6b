import { DiscardPolicy, RetentionPolicy, StorageType, type StreamConfig } from 'nats';
import type { Names } from './names.ts';

export interface StreamSettings {
  readonly replicas: number;
  readonly duplicateWindowMs: number;
}

/** What matters of a stream's configuration; the rest is the server's or the operator's. */
export type WantedStream = Partial<StreamConfig> & { readonly name: string; readonly subjects: string[] };

const NS_PER_MS = 1_000_000;
/** A dead letter that is larger than its stream would be gone as soon as it is stored. */
const DEAD_LETTER_BYTES_MIN = 4 * 1024 * 1024;

/** Limits, not interest: nothing but our own trimming removes a message, also when nobody consumes or a consumer is deleted. */
export function queueStream(names: Names, tenant: string, bytesMax: bigint, settings: StreamSettings): WantedStream {
  return {
    ...ours(settings),
    name: names.queueStream(tenant),
    subjects: [names.queueSubjects(tenant)],
    discard: DiscardPolicy.New,
    // 0 would be: without a limit.
    max_bytes: Math.max(1, toNumber(bytesMax)),
    max_msgs: -1,
    max_msgs_per_subject: -1,
    max_age: 0,
    duplicate_window: settings.duplicateWindowMs * NS_PER_MS,
  };
}

/** A tenth of the budget, oldest out first; never smaller than what it holds. */
export function deadLetterStream(
  names: Names,
  tenant: string,
  bytesMax: bigint,
  bytesHeld: number,
  settings: StreamSettings,
): WantedStream {
  return {
    ...ours(settings),
    name: names.deadLetterStream(tenant),
    subjects: [names.deadLetterSubjects(tenant)],
    discard: DiscardPolicy.Old,
    max_bytes: Math.max(toNumber(bytesMax / 10n), DEAD_LETTER_BYTES_MIN, bytesHeld),
  };
}

/** The newest word of each lease. */
export function leaseStream(names: Names, settings: StreamSettings): WantedStream {
  return {
    ...ours(settings),
    name: names.leaseStream,
    subjects: [names.leaseSubjects],
    discard: DiscardPolicy.Old,
    max_msgs_per_subject: 1,
  };
}

function ours({ replicas }: StreamSettings): Partial<StreamConfig> {
  return { storage: StorageType.File, retention: RetentionPolicy.Limits, num_replicas: replicas };
}

function toNumber(bytes: bigint): number {
  return Number(bytes > BigInt(Number.MAX_SAFE_INTEGER) ? BigInt(Number.MAX_SAFE_INTEGER) : bytes);
}

/** In which members a stream differs from what is wanted: `NAME: member is X, must be Y`. */
export function differences(actual: StreamConfig, wanted: WantedStream): string[] {
  return Object.entries(wanted).flatMap(([member, value]) => {
    const is = actual[member as keyof StreamConfig];
    if (JSON.stringify(is) === JSON.stringify(value)) return [];
    return [`${wanted.name}: ${member} is ${JSON.stringify(is)}, must be ${JSON.stringify(value)}`];
  });
}

/** Of a stream whose size is the operator's. */
export function withoutBudget({ max_bytes: _, ...wanted }: WantedStream): WantedStream {
  return wanted as WantedStream;
}

/**
 * What must stay while processes run: the promises of a queue rest on it. Copies, as a size that is left open, are those of whoever opened
 * it last, which may be a process with newer settings.
 */
export function lasting({ num_replicas: _, ...wanted }: WantedStream): WantedStream {
  return wanted as WantedStream;
}
