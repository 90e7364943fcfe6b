import {
  BatchWriteItemCommand,
  DeleteItemCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { keyText, nameOf } from '@tidemark/libs-driver-dynamodb';
import { Fault, asFault } from '@tidemark/libs-kernel';
import { gravestOf } from './map-error.ts';
import { TTL_ATTRIBUTE, dedupeTableDefinition } from './table.ts';
import type { TableCalls } from './table-calls.ts';

export interface DedupeLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
}

/** No stored key equals it: those contain two slashes. */
const NOBODY = { pk: { S: '!probe' } };
const NEVER = 'attribute_exists(pk) AND attribute_not_exists(pk)';

/**
 * Looks whether this store can work on the table, without writing anything: it is there, active and of the right key, and every right
 * that the calls need is granted. Fault `misconfigured` when not, and `unavailable` when that cannot be told now. A TTL that is off or on
 * another attribute is only worth a warning: what has expired is ignored all the same, but never deleted.
 */
export async function checkTable(calls: TableCalls, log: DedupeLog): Promise<void> {
  await checkKey(calls);
  const looks = await Promise.allSettled([
    checkTtl(calls, log),
    putNothing(calls),
    pingTable(calls),
    writeNothing(calls),
  ]);
  const faults = looks.flatMap((look) => (look.status === 'rejected' ? [asFault(look.reason)] : []));
  const denials = faults.filter(isDenial);
  if (denials.length > 0) throw denialOf(calls.table, denials);
  const fault = gravestOf(faults);
  if (fault) throw fault;
}

/** Resolves when the table answers as to a release: a claim that nobody holds is given up, which costs a write unit and writes nothing. */
export async function pingTable(calls: TableCalls): Promise<void> {
  const command = new DeleteItemCommand({ TableName: calls.table, Key: NOBODY, ConditionExpression: NEVER });
  await calls.send('delete_item', command, 'not-done');
}

async function putNothing(calls: TableCalls): Promise<void> {
  const command = new PutItemCommand({ TableName: calls.table, Item: NOBODY, ConditionExpression: NEVER });
  await calls.send('put_item', command, 'not-done');
}

/** A batch takes no condition: this one deletes what is never there. */
async function writeNothing(calls: TableCalls): Promise<void> {
  const RequestItems = { [calls.table]: [{ DeleteRequest: { Key: NOBODY } }] };
  await calls.send('batch_write_item', new BatchWriteItemCommand({ RequestItems }), 'not-done');
}

async function checkKey(calls: TableCalls): Promise<void> {
  const { table } = calls;
  const command = new DescribeTableCommand({ TableName: table });
  const answer = await calls.send('describe_table', command, 'not-done').catch((thrown: unknown) => {
    throw isDenial(asFault(thrown)) ? denialOf(table, [asFault(thrown)]) : thrown;
  });
  const described = answer.kind === 'done' ? (answer.output.Table ?? {}) : {};
  const [has, needs] = [keyText(described), keyText(dedupeTableDefinition(table))];
  if (has !== needs)
    throw new Fault('misconfigured', `the dedupe table "${table}" has the key (${has}), and needs (${needs})`);
  const status = described.TableStatus;
  if (status !== 'ACTIVE' && status !== 'UPDATING')
    throw new Fault('unavailable', `the dedupe table "${table}" is not active (${status})`);
}

async function checkTtl(calls: TableCalls, log: DedupeLog): Promise<void> {
  const { table } = calls;
  const command = new DescribeTimeToLiveCommand({ TableName: table });
  const answer = await calls.send('describe_time_to_live', command, 'not-done');
  const told = answer.kind === 'done' ? answer.output.TimeToLiveDescription : undefined;
  const isOn = told?.TimeToLiveStatus === 'ENABLED' || told?.TimeToLiveStatus === 'ENABLING';
  if (isOn && told?.AttributeName === TTL_ATTRIBUTE) return;
  log.warn(
    { table, status: told?.TimeToLiveStatus, attribute: told?.AttributeName },
    `the dedupe table has no TTL on "${TTL_ATTRIBUTE}": expired ids are ignored, but never deleted`,
  );
}

function isDenial({ cause }: Fault): boolean {
  return nameOf(cause) === 'AccessDeniedException';
}

/** Names the actions, and not who may not do them where. */
function denialOf(table: string, denials: readonly Fault[]): Fault {
  const actions = denials.map(({ cause }) => /dynamodb:\w+/.exec((cause as Error).message)?.[0] ?? 'an action');
  const message = `${actions.sort().join(', ')} is not allowed on the dedupe table "${table}"`;
  return new Fault('misconfigured', message, { cause: gravestOf(denials)?.cause });
}
