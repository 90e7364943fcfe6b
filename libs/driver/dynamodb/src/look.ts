import { type CreateTableCommandInput, DescribeTableCommand, type TableDescription } from '@aws-sdk/client-dynamodb';
import { Fault, type Random, type Sleeper, backoffMs } from '@tidemark/libs-kernel';
import type { DynamoClient } from './client.ts';
import { faultOf } from './map-error.ts';
import { nameOf } from './meaning.ts';
import { keyText } from './tables.ts';

export interface LookWaits {
  readonly sleeper: Sleeper;
  readonly random: Random;
}

/** A throttled look is repeated: a deployment starts all its services at once. */
export const LOOKS_MAX = 8;
const LOOK_BACKOFF = { baseMs: 100, ceilingMs: 5000 };

/** Repeats a look that is `unavailable`, LOOKS_MAX times in all. Rejects with a Fault that calls what is looked at as it is `called` here. */
export async function unthrottled<T>(
  { sleeper, random }: LookWaits,
  called: string,
  look: () => Promise<T>,
): Promise<T> {
  for (let looks = 1; ; looks++) {
    try {
      return await look();
    } catch (thrown) {
      if (nameOf(thrown) === 'CredentialsProviderError') throw nobody(thrown as Error);
      const fault = faultOf(thrown, called);
      if (fault.code !== 'unavailable' || looks === LOOKS_MAX) throw fault;
    }
    await sleeper.sleep(backoffMs(looks - 1, LOOK_BACKOFF, random));
  }
}

function nobody(cause: Error): Fault {
  const ways = 'AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY, AWS_PROFILE, or a role of the container or machine';
  return new Fault('misconfigured', `no AWS credentials were found: ${ways} (${cause.message})`, { cause });
}

/** `unfit`: not there, or of another key. `unknown`: what it is like may not be asked. */
export type Shape =
  | { readonly kind: 'fit'; readonly table: TableDescription }
  | { readonly kind: 'unfit' | 'unknown'; readonly problem: string };

/** Whether the table is there, active and of the key that it is wanted with. Rejects, `unavailable`, while it is not active. */
export async function shapeOf(client: DynamoClient, wanted: CreateTableCommandInput): Promise<Shape> {
  const name = wanted.TableName ?? '';
  try {
    const { Table: table = {} } = await client.send(new DescribeTableCommand({ TableName: name }));
    const [has, needs] = [keyText(table), keyText(wanted)];
    if (has !== needs)
      return { kind: 'unfit', problem: `the table "${name}" has the key (${has}), and needs (${needs})` };
    if (table.TableStatus === 'ACTIVE' || table.TableStatus === 'UPDATING') return { kind: 'fit', table };
  } catch (thrown) {
    if (nameOf(thrown) === 'ResourceNotFoundException')
      return { kind: 'unfit', problem: `there is no table "${name}"` };
    const action = deniedAction(thrown, 'dynamodb:DescribeTable');
    if (action !== null) return { kind: 'unknown', problem: denial(action, name) };
    throw thrown;
  }
  throw new Fault('unavailable', `the table "${name}" is not active yet`);
}

/** The action that was denied, as DynamoDB names it, else what was asked for; null when nothing was denied. */
export function deniedAction(thrown: unknown, asked: string): string | null {
  if (nameOf(thrown) !== 'AccessDeniedException') return null;
  return /dynamodb:\w+/.exec((thrown as Error).message)?.[0] ?? asked;
}

export function denial(action: string, table: string): string {
  return `${action} is not allowed on the table "${table}"`;
}
