import { type IngestAnswer, refuse } from './answer.ts';
import { type BodyFormat, readContentType } from './content-type.ts';
import { type Permit, type Sender, permitOf } from './permission.ts';
import { DEFAULT_TENANT, type TableSettings, type Tables, lookupRefusal } from './tables.ts';

/** What is known of a request before its body arrives. Headers as they came, every value of a repeated one. */
export interface RequestHead {
  /** `X-Tenant-ID`. */
  readonly tenant: string | readonly string[] | undefined;
  /** The query parameter `table`; null when it is missing. */
  readonly table: string | null;
  readonly contentType: string | readonly string[] | undefined;
  /** Absent: nobody is asked who they are, and everybody may insert. */
  readonly sender?: Sender | undefined;
}

export interface Admitted {
  readonly kind: 'admitted';
  readonly tenant: string;
  readonly table: TableSettings;
  readonly permit: Permit;
  readonly format: BodyFormat;
}

export interface Refusal {
  readonly kind: 'refused';
  readonly answer: IngestAnswer;
}

const TENANT_ID = /^[A-Za-z0-9_-]+$/;

export const isTenantId = (text: string): boolean => TENANT_ID.test(text);

/** Decides what can be decided before the body is read: tenant, table, right to insert, content type, in this order. */
export function admit(head: RequestHead, tables: Tables): Admitted | Refusal {
  const tenant = readTenant(head.tenant);
  if (typeof tenant !== 'string') return tenant;
  const lookup = tables.tenant(tenant);
  if (lookup.kind !== 'served') return refusal(...lookupRefusal(tenant, lookup.kind));
  if (head.table === null || head.table === '') return refusal(400, 'missing table');
  const table = lookup.tables.get(head.table);
  if (table === undefined) return refusal(404, `unknown table: ${head.table}`);
  const permit = permitOf(table.grants, head.sender ?? null);
  if (permit === null) return refusal(403, 'forbidden: no role of the caller may insert into the table');
  const type = readContentType(head.contentType);
  if (type.kind === 'unsupported') return refusal(415, type.error);
  return { kind: 'admitted', tenant, table, permit, format: type.format };
}

/** Absent or empty is the default tenant. Nothing else falls to it: a repeated or malformed header is refused. */
export function readTenant(header: RequestHead['tenant']): string | Refusal {
  const values = header === undefined ? [] : [header].flat();
  if (values.length > 1) return refusal(400, 'invalid X-Tenant-ID: sent more than once');
  const tenant = values[0] ?? '';
  if (tenant === '') return DEFAULT_TENANT;
  if (!isTenantId(tenant)) return refusal(400, 'invalid X-Tenant-ID: only letters, digits, _ and - are allowed');
  return tenant;
}

const refusal = (status: number, error: string): Refusal => ({ kind: 'refused', answer: refuse(status, error) });
