import { type AttributeValue, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import { mapError, mapWriteError, type DynamoClient } from '@tidemark/libs-driver-dynamodb';
import { Fault, compareUtf8 } from '@tidemark/libs-kernel';
import type { PresenceBoard, PresentMachine, PresentMachines } from '@tidemark/libs-op-store-contract';
import { assertStorable, isStreamId } from './registry-key.ts';

export interface PresenceParts {
  readonly client: DynamoClient;
  /** The registry table. */
  readonly table: string;
}

type Item = Readonly<Record<string, AttributeValue>>;

/** A row, and what its announcement forgot: the rows seen before that second. */
interface Row extends PresentMachine {
  readonly forgetBeforeSecs: bigint;
}

/** Answers of at most 1 MB each, which is some thousand machines. */
const PAGES_MAX = 2;

/**
 * A machine's row is overwritten by each announcement, whatever the clock says. Nothing is deleted here: a row carries the end of its own
 * retention for the table's TTL, which comes late or never, and a list leaves out what the announcements that it shows have forgotten.
 * The list alone is read eventually consistent: it is a claim by the machines, and asked for often.
 */
export function dynamodbPresenceBoard({ client, table }: PresenceParts): PresenceBoard {
  return {
    async announce(stream, { machineId, name, intervalSecs }, nowSecs, forgetBeforeSecs) {
      assertStorable(stream, { machine_id: machineId, name });
      const Item = {
        stream_id: { S: stream },
        sk: { S: MACHINE + machineId },
        name: { S: name },
        last_seen: { N: String(nowSecs) },
        interval_secs: { N: String(intervalSecs) },
        expires_at: { N: String(nowSecs + (nowSecs - forgetBeforeSecs)) },
      };
      await client.send(new PutItemCommand({ TableName: table, Item })).catch((thrown: unknown) => {
        throw mapWriteError(thrown, table);
      });
    },

    async machines(stream, seenSinceSecs, limit) {
      if (!isStreamId(stream)) return { machines: [], truncated: false };
      const rows: Row[] = [];
      let from: Item | undefined;
      for (let pages = 0; pages < PAGES_MAX; pages++) {
        const query = new QueryCommand({
          TableName: table,
          KeyConditionExpression: 'stream_id = :stream AND begins_with(sk, :machine)',
          FilterExpression: 'last_seen >= :since',
          ExpressionAttributeValues: {
            ':stream': { S: stream },
            ':machine': { S: MACHINE },
            ':since': { N: String(seenSinceSecs) },
          },
          ExclusiveStartKey: from,
        });
        const { Items = [], LastEvaluatedKey } = await client.send(query).catch((thrown: unknown) => {
          throw mapError(thrown, table);
        });
        for (const item of Items) rows.push(toRow(item, table));
        from = LastEvaluatedKey;
        if (from === undefined) break;
      }
      return listOf(rows, limit, from !== undefined);
    },
  };
}

const MACHINE = 'machine#';

/** Rows that a later announcement of the stream forgot are left out. */
function listOf(rows: readonly Row[], limit: number, isCut: boolean): PresentMachines {
  const forgotten = rows.reduce((most, row) => (row.forgetBeforeSecs > most ? row.forgetBeforeSecs : most), 0n);
  const seen = rows.filter(({ lastSeenSecs }) => lastSeenSecs >= forgotten).sort(mostRecentFirst);
  const machines = seen
    .slice(0, limit)
    .map(({ machineId, name, intervalSecs, lastSeenSecs }) => ({ machineId, name, intervalSecs, lastSeenSecs }));
  return { machines, truncated: isCut || seen.length > limit };
}

function toRow(item: Item, table: string): Row {
  const text = (attribute: string, of: 'S' | 'N'): string => {
    const value = (item[attribute] as Readonly<Record<string, unknown>> | undefined)?.[of];
    if (typeof value === 'string') return value;
    throw new Fault('corrupt', `${table}: the row of a machine has no attribute ${attribute} of type ${of}`);
  };
  const lastSeenSecs = BigInt(text('last_seen', 'N'));
  const retentionSecs =
    item['expires_at'] === undefined ? lastSeenSecs : BigInt(text('expires_at', 'N')) - lastSeenSecs;
  return {
    machineId: text('sk', 'S').slice(MACHINE.length),
    name: text('name', 'S'),
    intervalSecs: BigInt(text('interval_secs', 'N')),
    lastSeenSecs,
    forgetBeforeSecs: lastSeenSecs - retentionSecs,
  };
}

function mostRecentFirst(a: PresentMachine, b: PresentMachine): number {
  if (a.lastSeenSecs !== b.lastSeenSecs) return a.lastSeenSecs < b.lastSeenSecs ? 1 : -1;
  return compareUtf8(a.machineId, b.machineId);
}
