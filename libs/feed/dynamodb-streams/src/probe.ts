import type { CreateTableCommandInput, TableDescription } from '@aws-sdk/client-dynamodb';
import {
  type DynamoClient,
  type LookWaits,
  nameOf,
  shapeOf,
  tableDefinition,
  unthrottled,
} from '@tidemark/libs-driver-dynamodb';
import { Fault } from '@tidemark/libs-kernel';
import type { StreamsClient } from './client.ts';
import { controlOf, otherTable } from './control.ts';
import { CONTROL_KEY } from './lease-row.ts';
import { LeaseTable } from './lease-table.ts';
import { LEASES_RIGHTS, OPS_RIGHTS, type Right, STREAM_RIGHTS } from './probe-rights.ts';
import { leasesTable, OPS_KEY } from './tables.ts';

export interface ProbeParts extends LookWaits {
  readonly client: DynamoClient;
  readonly streams: StreamsClient;
  readonly opsTable: string;
  readonly leasesTable: string;
  readonly name: string;
}

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
  const seen = await tableOf(parts, tableDefinition(table, OPS_KEY), OPS_SETTING);
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
  const seen = await tableOf(parts, leasesTable(table), LEASES_SETTING);
  if (seen.kind === 'problem') return [seen.problem];
  const rights = await denied(parts, LEASES_RIGHTS, table, LEASES_SETTING);
  if (rights.length > 0) return rights;
  const row = await unthrottled(parts, `"${table}"`, () => new LeaseTable(client, table, name).row(CONTROL_KEY));
  const followed = controlOf(row ?? undefined)?.opsTable ?? opsTable;
  return followed === opsTable ? [] : [otherTable(name, followed, opsTable)];
}

type Seen =
  { readonly kind: 'table'; readonly table: TableDescription } | { readonly kind: 'problem'; readonly problem: string };

async function tableOf(parts: ProbeParts, wanted: CreateTableCommandInput, setting: string): Promise<Seen> {
  const shape = await unthrottled(parts, `"${wanted.TableName}"`, () => shapeOf(parts.client, wanted));
  if (shape.kind === 'fit') return { kind: 'table', table: shape.table };
  return { kind: 'problem', problem: `${setting}: ${shape.problem}` };
}

/** A line for each right that is missing. */
async function denied(parts: ProbeParts, rights: readonly Right[], on: string, setting: string): Promise<string[]> {
  const problems: string[] = [];
  for (const { action, use } of rights)
    await unthrottled(parts, `"${on}"`, async () => {
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
