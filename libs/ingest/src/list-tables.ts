import { readTenant } from './admit.ts';
import { type IngestAnswer, refuse } from './answer.ts';
import { type Sender, permitOf } from './permission.ts';
import { type TableSettings, type Tables, lookupRefusal } from './tables.ts';

export interface TablesRequest {
  /** `X-Tenant-ID`. */
  readonly tenant: string | readonly string[] | undefined;
  /** Absent: nobody is asked who they are. */
  readonly sender?: Sender | undefined;
  /** Whether the caller may reach the table at all. */
  mayReach(tenant: string, table: string): boolean;
}

/** The tenant's tables into which the caller may insert, in order of their names. */
export function listTables({ tenant: header, sender, mayReach }: TablesRequest, tables: Tables): IngestAnswer {
  const tenant = readTenant(header);
  if (typeof tenant !== 'string') return tenant.answer;
  const lookup = tables.tenant(tenant);
  if (lookup.kind !== 'served') return refuse(...lookupRefusal(tenant, lookup.kind));
  const seen = [...lookup.tables.values()].filter(
    ({ name, grants }) => mayReach(tenant, name) && permitOf(grants, sender ?? null) !== null,
  );
  seen.sort((a, b) => (a.name < b.name ? -1 : 1));
  return { status: 200, body: JSON.stringify({ tables: seen.map(describe) }), headers: {} };
}

const describe = ({ name, idField, requireId, retentionMs, ordered, schema }: TableSettings) => ({
  name,
  id_field: idField.text,
  require_id: requireId,
  /** null: for ever. */
  retention_secs: retentionMs === 0 ? null : retentionMs / 1000,
  ordered,
  schema_hash: schema?.hash ?? null,
});
