import type { JsonObject } from '@tidemark/libs-wire';
import { type Field, memberField } from './field.ts';
import type { InsertGrant } from './permission.ts';
import type { Edit } from './rewrite.ts';
import type { TimestampField } from './timestamp.ts';

/** Null: the record fits. */
export type SchemaVerdict = { readonly kind: 'schema' | 'repeated'; readonly error: string } | null;

/** A compiled schema. */
export interface RecordSchema {
  /** The same for equal schemas, and for no others. */
  readonly hash: string;
  /** Judges the record as it was sent, with the values that a permit adds. */
  judge(record: JsonObject, added: readonly Edit[]): SchemaVerdict;
}

/** What a table asks of its records. Read once per request: a reload takes effect at the next request. */
export interface TableSettings {
  readonly name: string;
  /** Where a record holds its id. */
  readonly idField: Field;
  /** Where it holds what it is about; null: that is its id. */
  readonly entity: Field | null;
  /** True: a record without id is refused. False: it is accepted, counted and not deduplicated. */
  readonly requireId: boolean;
  /** How long an id is remembered; 0 = for ever. */
  readonly retentionMs: number;
  /** True: one publish at a time, so that a refused publish never leaves a later record stored before an earlier one. */
  readonly ordered: boolean;
  /** Null: any object is a record. */
  readonly schema: RecordSchema | null;
  /** Who may insert what, in the order in which they are tried; null: everybody who may reach the table, anything. */
  readonly grants: readonly InsertGrant[] | null;
  readonly timestamps: readonly TimestampField[];
}

/** `invalid`: the tenant's settings never had a good version; it is known, and not served. */
export type TenantLookup =
  | { readonly kind: 'served'; readonly tables: ReadonlyMap<string, TableSettings> }
  | { readonly kind: 'unknown' | 'invalid' };

/** Why a tenant is not served: an HTTP status and its text. */
export function lookupRefusal(tenant: string, kind: 'unknown' | 'invalid'): [status: number, error: string] {
  return kind === 'unknown' ? [404, `unknown tenant: ${tenant}`] : [503, 'tenant settings are invalid'];
}

/** The tenants and their tables as they are set now. Answers from memory: looking up never waits and never fails. */
export interface Tables {
  tenants(): readonly string[];
  tenant(id: string): TenantLookup;
}

/** A table that takes any JSON object and remembers ids for ever. */
export const openTable = (name: string): TableSettings => ({
  name,
  idField: memberField('event_id'),
  entity: null,
  requireId: false,
  retentionMs: 0,
  ordered: false,
  schema: null,
  grants: null,
  timestamps: [],
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
