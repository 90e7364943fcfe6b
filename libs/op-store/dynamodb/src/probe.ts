import {
  denial,
  deniedAction,
  type DynamoClient,
  type LookWaits,
  shapeOf,
  tableCalled,
  type TableKey,
  tableDefinition,
  unthrottled,
} from '@tidemark/libs-driver-dynamodb';
import { Fault } from '@tidemark/libs-kernel';
import { LOG_RIGHTS, OPS_RIGHTS, REGISTRY_RIGHTS, type Right, cancelledAs } from './probe-rights.ts';
import { OPS_KEY, REGISTRY_KEY, type TableNames } from './tables.ts';

export interface LookParts extends LookWaits {
  readonly client: DynamoClient;
}

export type ProbeParts = LookParts & TableNames;

interface ProbedTable {
  readonly name: string;
  /** Of the services' settings, the one that names the table. */
  readonly setting: string;
  readonly key: TableKey;
  readonly rights: readonly Right[];
}

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
  const { client } = parts;
  const { name, setting, key, rights } = table;
  const look = <T>(at: () => Promise<T>): Promise<T> => unthrottled(parts, tableCalled(name), at);
  const shape = await look(() => shapeOf(client, tableDefinition(name, key)));
  const problems = shape.kind === 'fit' ? [] : [shape.problem];
  // A table that is not there denies everything, in words that say less.
  if (shape.kind !== 'unfit')
    for (const right of rights) {
      const denied = await look(() => rightProblem(client, name, right));
      if (denied !== null) problems.push(denied);
    }
  return problems.map((problem) => `${setting}: ${problem}`);
}

async function rightProblem(client: DynamoClient, table: string, right: Right): Promise<string | null> {
  try {
    await right.use(client, table);
    return null;
  } catch (thrown) {
    const end = cancelledAs(thrown);
    if (end === 'allowed') return null;
    if (end === 'throttled') throw new Fault('unavailable', `the table "${table}" takes no more now`);
    const action = deniedAction(thrown, right.actions);
    if (action !== null) return denial(action, table);
    throw thrown;
  }
}
