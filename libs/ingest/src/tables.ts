/** What a table asks of its records. Read once per request: a reload takes effect at the next request. */
export interface TableSettings {
  readonly name: string;
  /** The member of a record that holds its id. */
  readonly idField: string;
  /** True: a record without id is refused. False: it is accepted, counted and not deduplicated. */
  readonly requireId: boolean;
  /** How long an id is remembered; 0 = for ever. */
  readonly retentionMs: number;
  /** True: one publish at a time, so that a refused publish never leaves a later record stored before an earlier one. */
  readonly ordered: boolean;
}

/** `invalid`: the tenant's settings never had a good version; it is known, and not served. */
export type TenantLookup =
  | { readonly kind: 'served'; readonly tables: ReadonlyMap<string, TableSettings> }
  | { readonly kind: 'unknown' | 'invalid' };

/** The tenants and their tables as they are set now. Answers from memory: looking up never waits and never fails. */
export interface Tables {
  tenants(): readonly string[];
  tenant(id: string): TenantLookup;
}

/** A table that takes any JSON object and remembers ids for ever. */
export const openTable = (name: string): TableSettings => ({
  name,
  idField: 'event_id',
  requireId: false,
  retentionMs: 0,
  ordered: false,
});

/** Settings that never change. */
export function fixedTables(tablesOfTenants: Readonly<Record<string, readonly TableSettings[]>>): Tables {
  const lookups = new Map<string, TenantLookup>();
  for (const [tenant, tables] of Object.entries(tablesOfTenants)) {
    lookups.set(tenant, { kind: 'served', tables: new Map(tables.map((table) => [table.name, table])) });
  }
  return {
    tenants: () => [...lookups.keys()],
    tenant: (id) => lookups.get(id) ?? { kind: 'unknown' },
  };
}

/** Who sends no `X-Tenant-ID` is this tenant. */
export const DEFAULT_TENANT = '0';

/** Without a settings directory: tenant `0` with one open table `events` (ING-9). */
export const defaultTables: Tables = fixedTables({ [DEFAULT_TENANT]: [openTable('events')] });
