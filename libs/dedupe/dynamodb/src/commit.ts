import { BatchWriteItemCommand } from '@aws-sdk/client-dynamodb';
import { Fault, type Random, type Sleeper, asFault, backoffMs } from '@tidemark/libs-kernel';
import { throwJoined } from './map-error.ts';
import type { DynamodbDedupeMetrics } from './metrics.ts';
import type { ReleaseParts } from './release.ts';
import type { Item } from './table.ts';

export interface CommitParts extends ReleaseParts {
  readonly sleeper: Sleeper;
  readonly random: Random;
  readonly metrics: DynamodbDedupeMetrics;
}

/** What one BatchWriteItem takes. */
const CHUNK_ITEMS = 25;
const ROUNDS_MAX = 8;
const BACKOFF = { baseMs: 25, ceilingMs: 200 };

/**
 * Overwrites whatever stands at the keys, each of which comes once. Every chunk is attempted, whatever becomes of the others: all of their
 * events are published already. Chunks are independent, so a fault leaves some of the items written, and the same call repeats them.
 */
export async function commitAll(parts: CommitParts, items: readonly Item[]): Promise<void> {
  const faults: Fault[] = [];
  const commits = chunksOf(items).map((chunk) =>
    commitChunk(parts, chunk).catch((thrown: unknown) => void faults.push(asFault(thrown))),
  );
  await Promise.all(commits);
  throwJoined(faults);
}

/** Rounds until nothing is left; what passes is repeated whole. */
async function commitChunk(parts: CommitParts, chunk: readonly Item[]): Promise<void> {
  const { calls, settleSlots, sleeper, random } = parts;
  let left = chunk;
  let cause: unknown;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    if (round > 0) await sleeper.sleep(backoffMs(round - 1, BACKOFF, random));
    try {
      left = await settleSlots.run(() => writeRound(parts, left));
      cause = undefined;
    } catch (thrown) {
      if (asFault(thrown).code !== 'unavailable') throw thrown;
      cause = thrown;
    }
    if (left.length === 0) return;
  }
  const what = `left ${left.length} ids of a commit unwritten in ${ROUNDS_MAX} rounds`;
  throw new Fault('unavailable', `the dedupe table "${calls.table}" ${what}`, { outcome: 'unknown', cause });
}

/** Answers what the table handed back. */
async function writeRound({ calls, metrics }: CommitParts, items: readonly Item[]): Promise<readonly Item[]> {
  const RequestItems = { [calls.table]: items.map((Item) => ({ PutRequest: { Item } })) };
  const answer = await calls.send('batch_write_item', new BatchWriteItemCommand({ RequestItems }), 'unknown');
  const unprocessed = answer.kind === 'done' ? (answer.output.UnprocessedItems?.[calls.table] ?? []) : [];
  if (unprocessed.length > 0) metrics.unprocessed(unprocessed.length);
  return unprocessed.map(({ PutRequest }) => PutRequest!.Item!);
}

function chunksOf(items: readonly Item[]): Item[][] {
  const chunks = Math.ceil(items.length / CHUNK_ITEMS);
  return Array.from({ length: chunks }, (_, i) => items.slice(i * CHUNK_ITEMS, (i + 1) * CHUNK_ITEMS));
}
