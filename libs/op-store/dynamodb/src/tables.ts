import { UpdateTimeToLiveCommand } from '@aws-sdk/client-dynamodb';
import { createTable, type DynamoClient, type TableKey, tableDefinition } from '@tidemark/libs-driver-dynamodb';
import type { Sleeper } from '@tidemark/libs-kernel';

/** The two tables of a relay; any number of relays share them (RLY-18). */
export interface TableNames {
  /** Ops, claims and counters: `stream_id`, `seq`. */
  readonly opsTable: string;
  /** Prefixes and presence: `stream_id`, `sk`. */
  readonly registryTable: string;
}

export const OPS_KEY: TableKey = [
  ['stream_id', 'S'],
  ['seq', 'N'],
];
export const REGISTRY_KEY: TableKey = [
  ['stream_id', 'S'],
  ['sk', 'S'],
];

/** Machines that said nothing for long may be removed by the table itself; nothing depends on it. */
const TTL_ATTRIBUTE = 'expires_at';

/**
 * Makes both tables and waits until they take writes; one that is there already is left as it is. For stand-ins and tests: tables of a
 * deployment are made by the deployment, and a relay never makes any.
 */
export async function createTables(client: DynamoClient, names: TableNames, sleeper: Sleeper): Promise<void> {
  await createTable(client, tableDefinition(names.opsTable, OPS_KEY), sleeper);
  const isNew = await createTable(client, tableDefinition(names.registryTable, REGISTRY_KEY), sleeper);
  if (!isNew) return;
  const TimeToLiveSpecification = { Enabled: true, AttributeName: TTL_ATTRIBUTE };
  await client.send(new UpdateTimeToLiveCommand({ TableName: names.registryTable, TimeToLiveSpecification }));
}
