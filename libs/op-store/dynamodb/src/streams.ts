import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { inParallel, mapError } from '@tidemark/libs-driver-dynamodb';
import { compareUtf8 } from '@tidemark/libs-kernel';
import type { StreamHead, StreamState } from '@tidemark/libs-op-store-contract';
import { I64_MAX } from '@tidemark/libs-wire';
import { isCorrupt } from './corrupt.ts';
import type { DynamoLog } from './metrics.ts';
import { type Item, itemKey } from './op-item.ts';
import type { OpsTable } from './ops-table.ts';

export interface ListParts {
  readonly table: OpsTable;
  readonly log: DynamoLog;
}

/**
 * Highest seq ever given. The newest op counts beside the counter: a counter may have been lost, and while a transaction is being committed
 * a reader may have met its op before the counter (RLY-17).
 */
export async function head(table: OpsTable, stream: string): Promise<bigint> {
  const [{ next }, top] = await Promise.all([table.counter(stream), table.top(stream)]);
  return next > top ? next : top;
}

/** Reads the whole stream. Ops that are erased meanwhile may be counted; later appends are not. */
export async function describe(table: OpsTable, stream: string): Promise<StreamState> {
  const top = await head(table, stream);
  return { head: top, burned: top - (await table.countUpTo(stream, top)) };
}

const CALLS_MAX = 8;

/**
 * Looks at every stream of the table, of each at most 1 MB, whatever the limit: DynamoDB keeps streams in no order of their names. For an
 * operator. A stream whose counter cannot be read is logged, and listed with its newest op.
 */
export async function list({ table, log }: ListParts, after: string | null, limit: number): Promise<StreamHead[]> {
  if (limit <= 0) return [];
  /** The first ones of all that were seen. */
  let first: string[] = [];
  for await (const streams of streamsOf(table)) {
    const last = first.length < limit ? undefined : first.at(-1);
    const wanted = streams.filter(
      (stream) =>
        (after === null || compareUtf8(stream, after) > 0) && (last === undefined || compareUtf8(stream, last) < 0),
    );
    const tops = await inParallel(wanted, CALLS_MAX, (stream) => table.top(stream));
    first.push(...wanted.filter((_, i) => (tops[i] as bigint) > 0n));
    first = first.sort(compareUtf8).slice(0, limit);
  }
  return inParallel(first, CALLS_MAX, async (stream) => {
    const readable = head(table, stream).catch((thrown: unknown) => {
      if (!isCorrupt(thrown)) throw thrown;
      log.warn(
        { stream, problem: thrown.message },
        'a stream is listed with its newest op: its counter cannot be read',
      );
      return table.top(stream);
    });
    return { stream, head: await readable };
  });
}

/** Every id of a stream that has an item, once; those of one page together. */
async function* streamsOf(table: OpsTable): AsyncGenerator<string[]> {
  for (let from: Item | undefined; ;) {
    const command: ScanCommand = new ScanCommand({
      TableName: table.name,
      ProjectionExpression: 'stream_id, seq',
      ConsistentRead: true,
      ...(from === undefined ? {} : { ExclusiveStartKey: from }),
    });
    const { Items = [], LastEvaluatedKey } = await table.client.send(command).catch((thrown: unknown) => {
      throw mapError(thrown, table.name);
    });
    yield [...new Set(Items.map((item) => item['stream_id']?.S ?? ''))];
    if (LastEvaluatedKey === undefined) return;
    // The items of a stream stand together: the next page begins behind them all.
    from = itemKey(LastEvaluatedKey['stream_id']?.S ?? '', I64_MAX);
  }
}
