import {
  type CancellationReason,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { answerOf, mapWriteError, nameOf } from '@tidemark/libs-driver-dynamodb';
import { asFault, backoffMs, Fault, type Random, type Sleeper } from '@tidemark/libs-kernel';
import { claimSeq } from '@tidemark/libs-wire';
import { isCorrupt } from './corrupt.ts';
import type { DynamoLog } from './metrics.ts';
import { COUNTER_SEQ, type Item, itemKey, toSeq } from './op-item.ts';
import type { OpsTable } from './ops-table.ts';

export interface EraseParts {
  readonly table: OpsTable;
  readonly log: DynamoLog;
  readonly sleeper: Sleeper;
  readonly random: Random;
}

/** An op to remove, with its claim's key where the claim is its own, so far as is known. */
interface Doomed {
  readonly seq: bigint;
  readonly opId: string | undefined;
  readonly claimSeq: bigint | null;
  readonly bytes: number;
}

/**
 * Removes the ops up to the newest one there is now, from below, each together with its claim: no claim outlives its op, so a repeat of an
 * erased op never waits for it. The counter stays, and is raised first where it stands behind the ops, so that no seq is given twice. A
 * repeat of an erasure that failed half-way goes on with what is left. A counter that cannot be read stays as it is, and is logged with the
 * seq that it must not be set below: until somebody sets it no op is stored.
 */
export async function erase(parts: EraseParts, stream: string): Promise<bigint> {
  const { table } = parts;
  const top = await table.top(stream);
  let erased = 0n;
  try {
    if (top > 0n) await raiseCounter(parts, stream, top);
    for (let after = 0n; after < top;) {
      const { items } = await table.opsAbove(stream, after, OPS_MAX);
      const ops = items.map(doomed).filter(({ seq }) => seq <= top);
      for (const batch of batches(ops)) {
        await remove(parts, stream, batch);
        erased += BigInt(batch.length);
      }
      after = ops.at(-1)?.seq ?? top;
    }
    return erased;
  } catch (thrown) {
    const { code, message, outcome } = asFault(thrown);
    if (erased === 0n || outcome !== 'not-done') throw thrown;
    const told = `${message}; ${erased} ops of the stream are erased, the others are not`;
    throw new Fault(code, told, { outcome: 'partly', cause: thrown });
  }
}

/** A Query brings at most 1 MB anyway. */
const OPS_MAX = 1000;

function doomed(item: Item): Doomed {
  const opId = item['op_id']?.S;
  return {
    seq: toSeq(item),
    opId,
    claimSeq: opId === undefined ? null : claimSeq(opId),
    // More than DynamoDB counts, of any item; and of its claim, which holds the op's id.
    bytes: 2 * Buffer.byteLength(JSON.stringify(item)),
  };
}

const BATCH_OPS_MAX = 50;
/** Of the 4 MB that a transaction may touch. */
const BATCH_BYTES_MAX = 4_000_000;

/** No claim's key is twice in a batch, since a transaction may touch an item once. */
function* batches(ops: readonly Doomed[]): Generator<Doomed[]> {
  let batch: Doomed[] = [];
  let bytes = 0;
  const claims = new Set<bigint | null>();
  for (const op of ops) {
    const isTwice = op.claimSeq !== null && claims.has(op.claimSeq);
    if (batch.length > 0 && (isTwice || batch.length === BATCH_OPS_MAX || bytes + op.bytes > BATCH_BYTES_MAX)) {
      yield batch;
      [batch, bytes] = [[], 0];
      claims.clear();
    }
    batch.push(op);
    claims.add(op.claimSeq);
    bytes += op.bytes;
  }
  if (batch.length > 0) yield batch;
}

/** One transaction. A claim that turns out to be another op's is left alone. */
async function remove(parts: EraseParts, stream: string, batch: readonly Doomed[]): Promise<void> {
  let ops = batch;
  const isDone = async (): Promise<boolean> => {
    const claimed = ops.filter((op) => op.claimSeq !== null);
    const command = new TransactWriteItemsCommand({
      TransactItems: [
        ...claimed.map((op) => deleteClaim(parts.table.name, stream, op)),
        ...ops.map(({ seq }) => ({ Delete: { TableName: parts.table.name, Key: itemKey(stream, seq) } })),
      ],
    });
    try {
      await parts.table.client.send(command);
      return true;
    } catch (thrown) {
      const codes = codesOf(thrown);
      const foreign = new Set(claimed.filter((_, i) => codes[i] === 'ConditionalCheckFailed'));
      if (foreign.size > 0) {
        ops = ops.map((op) => (foreign.has(op) ? { ...op, claimSeq: null } : op));
        return false;
      }
      if (codes.some((code) => PASSING.has(code))) return false;
      throw thrown;
    }
  };
  await untilDone(parts, isDone);
}

const PASSING: ReadonlySet<string> = new Set([
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
]);

function deleteClaim(table: string, stream: string, { claimSeq: key, opId, seq }: Doomed): TransactWriteItem {
  return {
    Delete: {
      TableName: table,
      Key: itemKey(stream, key as bigint),
      ConditionExpression: 'attribute_not_exists(stream_id) OR (op_id = :id AND op_seq = :seq)',
      ExpressionAttributeValues: { ':id': { S: opId as string }, ':seq': { N: String(seq) } },
    },
  };
}

function codesOf(thrown: unknown): string[] {
  if (nameOf(thrown) !== 'TransactionCanceledException') return [];
  const { CancellationReasons = [] } = thrown as { readonly CancellationReasons?: readonly CancellationReason[] };
  return CancellationReasons.map(({ Code }) => Code ?? 'None');
}

async function raiseCounter(parts: EraseParts, stream: string, top: bigint): Promise<void> {
  const { table, log } = parts;
  try {
    if ((await table.counter(stream)).next >= top) return;
  } catch (thrown) {
    if (!isCorrupt(thrown)) throw thrown;
    const fields = { stream, atLeast: String(top), problem: thrown.message };
    return log.warn(
      fields,
      'a stream is erased though its counter cannot be read: set it, to no less than its newest op had',
    );
  }
  const command = new UpdateItemCommand({
    TableName: table.name,
    Key: itemKey(stream, COUNTER_SEQ),
    UpdateExpression: 'SET next_seq = :top',
    ConditionExpression: 'attribute_not_exists(next_seq) OR next_seq < :top',
    ExpressionAttributeValues: { ':top': { N: String(top) } },
  });
  await untilDone(parts, async () => {
    try {
      await table.client.send(command);
    } catch (thrown) {
      // An append raised it meanwhile.
      if (nameOf(thrown) !== 'ConditionalCheckFailedException') throw thrown;
    }
    return true;
  });
}

const TRIES_MAX = 100;
const BACKOFF = { baseMs: 5, ceilingMs: 200 };

/** Both writes may be repeated at will. */
async function untilDone({ table, sleeper, random }: EraseParts, isDone: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    try {
      if (await isDone()) return;
    } catch (thrown) {
      if (answerOf(thrown) !== 'throttled') throw mapWriteError(thrown, table.name);
    }
    await sleeper.sleep(backoffMs(tries, BACKOFF, random));
  }
  throw new Fault('unavailable', `the erasure met other transactions ${TRIES_MAX} times`, { retryAfterMs: 1000 });
}
