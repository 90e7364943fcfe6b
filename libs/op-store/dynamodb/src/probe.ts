import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { Fault, type Random, type Sleeper, backoffMs } from '@tidemark/libs-kernel';
import type { DynamoClient } from './client.ts';
import { mapError, nameOf } from './map-error.ts';
import { LOG_RIGHTS, OPS_RIGHTS, REGISTRY_RIGHTS, type Right, cancelledAs, deniedAction } from './probe-rights.ts';
import { hasKey, keyText, OPS_KEY, REGISTRY_KEY, tableDefinition, type TableKey, type TableNames } from './tables.ts';

export interface LookParts {
  readonly client: DynamoClient;
  readonly sleeper: Sleeper;
  readonly random: Random;
}

export type ProbeParts = LookParts & TableNames;

interface ProbedTable {
  readonly name: string;
  /** Of the services' settings, the one that names the table. */
  readonly setting: string;
  readonly key: TableKey;
  readonly rights: readonly Right[];
}

/** A throttled look is repeated: a deployment starts all its relays at once. */
export const LOOKS_MAX = 8;
const LOOK_BACKOFF = { baseMs: 100, ceilingMs: 5000 };

/**
 * Looks whether a relay can work on these tables, without writing anything: both are there, active and of the right key, and every right
 * that its calls need is granted. Fault `misconfigured` names every setting, table and action that is wrong, so that a wrong deployment
 * ends at its start; `unavailable` when DynamoDB does not answer.
 */
export async function probe(parts: ProbeParts): Promise<void> {
  const ops = { name: parts.opsTable, setting: 'RELAY_DYNAMODB_TABLE', key: OPS_KEY, rights: OPS_RIGHTS };
  const registry = {
    name: parts.registryTable,
    setting: 'RELAY_DYNAMODB_REGISTRY_TABLE',
    key: REGISTRY_KEY,
    rights: REGISTRY_RIGHTS,
  };
  refuse([...(await problemsOf(parts, ops)), ...(await problemsOf(parts, registry))]);
}

/** The same for whoever only reads the ops table. `setting` of the service that names it. */
export async function probeToRead(parts: LookParts, name: string, setting: string): Promise<void> {
  refuse(await problemsOf(parts, { name, setting, key: OPS_KEY, rights: LOG_RIGHTS }));
}

function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new Fault('misconfigured', problems.join('; '));
}

async function problemsOf(parts: LookParts, table: ProbedTable): Promise<string[]> {
  const shape = await unthrottled(parts, table, () => shapeProblem(parts.client, table));
  // A table that is not there denies everything, in words that say less.
  if (shape?.kind === 'unfit') return [shape.problem];
  const problems = shape === null ? [] : [shape.problem];
  for (const right of table.rights) {
    const denied = await unthrottled(parts, table, () => rightProblem(parts.client, table, right));
    if (denied !== null) problems.push(denied);
  }
  return problems;
}

/** `unknown`: what the table is like may not be asked. */
type ShapeProblem = { readonly kind: 'unfit' | 'unknown'; readonly problem: string };

async function shapeProblem(client: DynamoClient, table: ProbedTable): Promise<ShapeProblem | null> {
  const { name, setting, key } = table;
  const unfit = (problem: string): ShapeProblem => ({ kind: 'unfit', problem });
  try {
    const { Table = {} } = await client.send(new DescribeTableCommand({ TableName: name }));
    if (!hasKey(Table, key)) {
      const wanted = keyText(tableDefinition(name, key));
      return unfit(`${setting}: the table "${name}" has the key (${keyText(Table)}), and needs (${wanted})`);
    }
    if (Table.TableStatus === 'ACTIVE' || Table.TableStatus === 'UPDATING') return null;
  } catch (thrown) {
    if (nameOf(thrown) === 'ResourceNotFoundException') return unfit(`${setting}: there is no table "${name}"`);
    const action = deniedAction(thrown, 'dynamodb:DescribeTable');
    if (action !== null) return { kind: 'unknown', problem: denial(table, action) };
    throw thrown;
  }
  throw new Fault('unavailable', `the table "${name}" is not active yet`);
}

async function rightProblem(client: DynamoClient, table: ProbedTable, right: Right): Promise<string | null> {
  try {
    await right.use(client, table.name);
    return null;
  } catch (thrown) {
    const end = cancelledAs(thrown);
    if (end === 'allowed') return null;
    if (end === 'throttled') throw new Fault('unavailable', `the table "${table.name}" takes no more now`);
    const action = deniedAction(thrown, right.actions);
    if (action !== null) return denial(table, action);
    throw thrown;
  }
}

function denial({ name, setting }: ProbedTable, action: string): string {
  return `${setting}: ${action} is not allowed on the table "${name}"`;
}

async function unthrottled<T>(parts: LookParts, { name }: ProbedTable, look: () => Promise<T>): Promise<T> {
  for (let looks = 1; ; looks++) {
    try {
      return await look();
    } catch (thrown) {
      if (nameOf(thrown) === 'CredentialsProviderError') throw nobody(thrown as Error);
      const fault = mapError(thrown, name);
      if (fault.code !== 'unavailable' || looks === LOOKS_MAX) throw fault;
    }
    await parts.sleeper.sleep(backoffMs(looks - 1, LOOK_BACKOFF, parts.random));
  }
}

function nobody(cause: Error): Fault {
  const ways = 'AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY, AWS_PROFILE, or a role of the container or machine';
  return new Fault('misconfigured', `no AWS credentials were found: ${ways} (${cause.message})`, { cause });
}
