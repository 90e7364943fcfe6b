import type { AttributeValue, _Record } from '@aws-sdk/client-dynamodb-streams';
import type { FeedChange } from '@tidemark/libs-feed-contract';
import { parseInt64 } from '@tidemark/libs-wire';
import type { RecordKind } from './report.ts';

type Image = Readonly<Record<string, AttributeValue>>;

export interface ReadRecord {
  readonly kind: RecordKind;
  /** null: it names nothing. */
  readonly change: FeedChange | null;
}

/**
 * What one record of the ops table's stream says. An op names its place, the counter the highest seq given; claims, removals (a truncation,
 * an erasure, a time to live) and whatever else stands in the table name nothing. What an op holds is not looked at: the keys do.
 */
export function readRecord({ eventName, dynamodb = {} }: _Record): ReadRecord {
  const { Keys = {}, NewImage } = dynamodb as { readonly Keys?: Image; readonly NewImage?: Image };
  const stream = Keys['stream_id']?.S;
  const seq = parseInt64(Keys['seq']?.N ?? '');
  if (stream === undefined || seq === null) return { kind: 'unknown', change: null };
  if (eventName === 'REMOVE') return { kind: 'removed', change: null };
  if (seq < 0n) return { kind: 'claim', change: null };
  if (seq > 0n) return { kind: 'op', change: { stream, head: seq } };
  // A stream of keys alone, or of old images, does not show the counter; the records of its ops do.
  if (NewImage === undefined) return { kind: 'counter', change: null };
  const head = parseInt64(NewImage['next_seq']?.N ?? '');
  if (head === null || head < 0n) return { kind: 'unknown', change: null };
  return { kind: 'counter', change: head === 0n ? null : { stream, head } };
}

/** Each stream once, with the highest head. */
export function highestOf(changes: Iterable<FeedChange>): FeedChange[] {
  const heads = new Map<string, bigint>();
  for (const { stream, head } of changes) if (head > (heads.get(stream) ?? 0n)) heads.set(stream, head);
  return [...heads].map(([stream, head]) => ({ stream, head }));
}

export interface ReadPage {
  readonly changes: readonly FeedChange[];
  readonly kinds: ReadonlyMap<RecordKind, number>;
  /** Sequence number of the last record; null when there is none. */
  readonly last: string | null;
  /** When the last record was made, by AWS' wall clock. */
  readonly madeAtMs: number | null;
}

export function readPage(records: readonly _Record[]): ReadPage {
  const read = records.map(readRecord);
  const kinds = new Map<RecordKind, number>();
  for (const { kind } of read) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  const last = records.at(-1)?.dynamodb;
  return {
    changes: highestOf(read.flatMap(({ change }) => (change === null ? [] : [change]))),
    kinds,
    last: last?.SequenceNumber ?? null,
    madeAtMs: last?.ApproximateCreationDateTime?.getTime() ?? null,
  };
}
