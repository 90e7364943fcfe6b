import { DescribeTableCommand, type TableDescription } from '@aws-sdk/client-dynamodb';
import { Fault, type Random, type Sleeper, backoffMs } from '@tidemark/libs-kernel';
import type { DynamoClient, StreamsClient } from './client.ts';
import { controlOf, otherTable } from './control.ts';
import { CONTROL_KEY } from './lease-row.ts';
import { LeaseTable } from './lease-table.ts';
import { mapError, nameOf } from './map-error.ts';
import { LEASES_RIGHTS, OPS_RIGHTS, type Right, STREAM_RIGHTS } from './probe-rights.ts';
import { keyText, LEASES_KEY, OPS_KEY, tableOf, type TableKey } from './tables.ts';

export interface ProbeParts {
  readonly client: DynamoClient;
  readonly streams: StreamsClient;
  readonly opsTable: string;
  readonly leasesTable: string;
  readonly name: string;
  readonly sleeper: Sleeper;
  readonly random: Random;
}

/** A throttled look is repeated: a deployment starts all its workers at once. */
const LOOKS_MAX = 8;
const LOOK_BACKOFF = { baseMs: 100, ceilingMs: 5000 };

const OPS_SETTING = 'FOLD_OPS_TABLE';
const LEASES_SETTING = 'FOLD_LEASES_TABLE';

/**
 * Looks whether a worker can follow these tables, without writing anything: both are there and of the right key, the ops table has a stream, every
 * right that its calls need is granted, and the fold's name is not that of a fold of another table. Fault `misconfigured` names every setting,
 * table and action that is wrong; `unavailable` when DynamoDB does not answer.
 */
export async function probe(parts: ProbeParts): Promise<void> {
  const problems = [...(await opsProblems(parts)), ...(await leasesProblems(parts))];
  if (problems.length > 0) throw new Fault('misconfigured', problems.join('; '));
}

async function opsProblems(parts: ProbeParts): Promise<string[]> {
  const { opsTable: table } = parts;
  const seen = await shapeOf(parts, table, OPS_SETTING, OPS_KEY);
  if (seen.kind === 'problem') return [seen.problem];
  const rights = await denied(parts, OPS_RIGHTS, table, OPS_SETTING);
  const { LatestStreamArn: arn, StreamSpecification } = seen.table;
  if (arn === undefined || StreamSpecification?.StreamEnabled !== true)
    return [
      ...rights,
      `${OPS_SETTING}: the table "${table}" has no stream: switch DynamoDB Streams on, with any view type`,
    ];
  return [...rights, ...(await denied(parts, STREAM_RIGHTS, arn, OPS_SETTING))];
}

async function leasesProblems(parts: ProbeParts): Promise<string[]> {
  const { client, leasesTable: table, opsTable, name } = parts;
  const seen = await shapeOf(parts, table, LEASES_SETTING, LEASES_KEY);
  if (seen.kind === 'problem') return [seen.problem];
  const rights = await denied(parts, LEASES_RIGHTS, table, LEASES_SETTING);
  if (rights.length > 0) return rights;
  const row = await unthrottled(parts, table, () => new LeaseTable(client, table, name).row(CONTROL_KEY));
  const followed = controlOf(row ?? undefined)?.opsTable ?? opsTable;
  return followed === opsTable ? [] : [otherTable(name, followed, opsTable)];
}

type Seen =
  { readonly kind: 'table'; readonly table: TableDescription } | { readonly kind: 'problem'; readonly problem: string };

async function shapeOf(parts: ProbeParts, name: string, setting: string, key: TableKey): Promise<Seen> {
  const problem = (text: string): Seen => ({ kind: 'problem', problem: `${setting}: ${text}` });
  return unthrottled(parts, name, async () => {
    try {
      const { Table: table = {} } = await parts.client.send(new DescribeTableCommand({ TableName: name }));
      if (keyText(table) !== keyText(tableOf(name, key)))
        return problem(
          `the table "${name}" has the key (${keyText(table)}), and needs (${keyText(tableOf(name, key))})`,
        );
      if (table.TableStatus === 'ACTIVE' || table.TableStatus === 'UPDATING') return { kind: 'table', table };
    } catch (thrown) {
      if (nameOf(thrown) === 'ResourceNotFoundException') return problem(`there is no table "${name}"`);
      if (nameOf(thrown) === 'AccessDeniedException')
        return problem(`dynamodb:DescribeTable is not allowed on the table "${name}"`);
      throw thrown;
    }
    throw new Fault('unavailable', `the table "${name}" is not active yet`);
  });
}

/** A line for each right that is missing. */
async function denied(parts: ProbeParts, rights: readonly Right[], on: string, setting: string): Promise<string[]> {
  const problems: string[] = [];
  for (const { action, use } of rights)
    await unthrottled(parts, on, async () => {
      try {
        await use(parts, on);
      } catch (thrown) {
        if (nameOf(thrown) === 'ConditionalCheckFailedException') return;
        if (nameOf(thrown) !== 'AccessDeniedException') throw thrown;
        problems.push(`${setting}: ${action} is not allowed on "${on}"`);
      }
    });
  return problems;
}

async function unthrottled<T>(parts: ProbeParts, name: string, look: () => Promise<T>): Promise<T> {
  for (let looks = 1; ; looks++) {
    try {
      return await look();
    } catch (thrown) {
      if (nameOf(thrown) === 'CredentialsProviderError') throw nobody(thrown as Error);
      const fault = mapError(thrown, `"${name}"`);
      if (fault.code !== 'unavailable' || looks === LOOKS_MAX) throw fault;
    }
    await parts.sleeper.sleep(backoffMs(looks - 1, LOOK_BACKOFF, parts.random));
  }
}

function nobody(cause: Error): Fault {
  const ways = 'AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY, AWS_PROFILE, or a role of the container or machine';
  return new Fault('misconfigured', `no AWS credentials were found: ${ways} (${cause.message})`, { cause });
}
