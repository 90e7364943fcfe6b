import { DeleteItemCommand } from '@aws-sdk/client-dynamodb';
import { type Fault, asFault } from '@tidemark/libs-kernel';
import { PENDING, tokenValue } from './item.ts';
import { throwJoined } from './map-error.ts';
import type { Slots } from './slots.ts';
import type { TableCalls } from './table-calls.ts';

export interface ReleaseParts {
  readonly calls: TableCalls;
  /** For commits and releases, which never wait behind the puts of reserves. */
  readonly settleSlots: Slots;
}

/** A key that may be held under this token. */
export interface Held {
  readonly stored: string;
  readonly token: string;
}

/** Gives each of them up, if it is still owned and pending. Every one is attempted, whatever becomes of the others. */
export async function releaseAll({ calls, settleSlots }: ReleaseParts, all: readonly Held[]): Promise<void> {
  const faults: Fault[] = [];
  const releases = all.map((held) =>
    settleSlots.run(() => releaseOne(calls, held)).catch((thrown: unknown) => void faults.push(asFault(thrown))),
  );
  await Promise.all(releases);
  throwJoined(faults);
}

/** A condition that fails says that the claim is not ours any more, which is as good. */
async function releaseOne(calls: TableCalls, { stored, token }: Held): Promise<void> {
  const command = new DeleteItemCommand({
    TableName: calls.table,
    Key: { pk: { S: stored } },
    ConditionExpression: 'tk = :tk AND st = :pending',
    ExpressionAttributeValues: { ':tk': tokenValue(token), ':pending': PENDING },
  });
  await calls.send('delete_item', command, 'unknown');
}
