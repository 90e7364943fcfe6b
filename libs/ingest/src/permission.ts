import { JsonNumber, type JsonObject, type JsonValue } from '@tidemark/libs-wire';
import { memberField } from './field.ts';
import { type Edit, type Scalar } from './rewrite.ts';

/** Who sends records, as far as tables ask for it. */
export interface Sender {
  readonly roles: readonly string[];
  /** What is said about it by whoever vouches for it. */
  readonly claims: Readonly<Record<string, unknown>>;
}

/** Where a clause has its value from: the settings, or a claim of the sender (names from the outside in). */
export type Source<Literal> =
  { readonly kind: 'literal'; readonly value: Literal } | { readonly kind: 'claim'; readonly path: readonly string[] };

/** What a record must have in a column. `eq`: that value, which is added when the column is absent. `in`: one of them. */
export type CheckClause =
  | { readonly column: string; readonly kind: 'eq'; readonly from: Source<Scalar> }
  | { readonly column: string; readonly kind: 'in'; readonly from: Source<readonly Scalar[]> };

/** What a role may insert. */
export interface InsertGrant {
  readonly role: string;
  /** Members that a record may have; null: any. */
  readonly columns: ReadonlySet<string> | null;
  readonly checks: readonly CheckClause[];
}

/** A column and the values that it may have: none when they could not be told, which no record fits. */
export interface Requirement {
  readonly column: string;
  readonly values: readonly Scalar[];
  /** Whether an absent column gets the one value. */
  readonly adds: boolean;
}

/** What one request may insert into one table. */
export interface Permit {
  readonly columns: ReadonlySet<string> | null;
  readonly requirements: readonly Requirement[];
}

export const EVERYTHING: Permit = { columns: null, requirements: [] };

/**
 * Of the table's grants, in the order of its settings, the first whose role the sender has. Null: it may insert nothing. A table without
 * grants leaves everybody in who may reach it, and so is a sender of whom nobody knows anything (null), because nobody is asked.
 */
export function permitOf(grants: readonly InsertGrant[] | null, sender: Sender | null): Permit | null {
  if (grants === null || sender === null) return EVERYTHING;
  const grant = grants.find(({ role }) => sender.roles.includes(role));
  if (grant === undefined) return null;
  const requirements = grant.checks.map((clause) => ({
    column: clause.column,
    values: valuesOf(clause, sender.claims),
    adds: clause.kind === 'eq',
  }));
  return { columns: grant.columns, requirements };
}

function valuesOf(clause: CheckClause, claims: Sender['claims']): readonly Scalar[] {
  if (clause.from.kind === 'literal') return [clause.from.value].flat() as Scalar[];
  const claim = clause.from.path.reduce<unknown>(ownMember, claims);
  if (clause.kind === 'eq') return isScalar(claim) ? [claim] : [];
  return (Array.isArray(claim) ? (claim as unknown[]) : [claim]).filter(isScalar);
}

function ownMember(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

/** The empty text and integers that lost digits on their way are not taken for a value: both would let strangers in. */
export function isScalar(value: unknown): value is Scalar {
  if (typeof value === 'string') return value !== '' && value.isWellFormed();
  if (typeof value === 'number')
    return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
  return typeof value === 'boolean';
}

/** What the permit adds to the record: the values of columns that it does not have. */
export function additions(record: JsonObject, { requirements }: Permit): Edit[] {
  return requirements.flatMap(({ column, values: [value], adds }) =>
    adds && value !== undefined && !record.members.has(column) ? [{ field: memberField(column), value }] : [],
  );
}

/** Why the permit does not cover the record, null when it does. Values are compared as they were sent, before any rule changes them. */
export function denial(
  record: JsonObject,
  permit: Permit,
): { readonly kind: 'column' | 'check'; readonly error: string } | null {
  const { columns, requirements } = permit;
  const foreign = columns === null ? undefined : [...record.members.keys()].find((name) => !columns.has(name));
  if (foreign !== undefined) return { kind: 'column', error: `column ${quoted(foreign)} not allowed for insert` };
  const failed = requirements.filter((requirement) => !meets(record, requirement)).map(({ column }) => quoted(column));
  if (failed.length === 0) return null;
  const which = failed.length === 1 ? 'column' : 'columns';
  return { kind: 'check', error: `check failed for ${which} ${failed.join(', ')}` };
}

function meets(record: JsonObject, { column, values, adds }: Requirement): boolean {
  // One reader would see the first of them, another the last.
  if (record.repeated.includes(column)) return false;
  const value = record.members.get(column);
  if (value === undefined) return adds && values.length > 0;
  return values.some((wanted) => isSame(value, wanted));
}

/** Of one type and value. Numbers by their digits, a fraction of zeros left out: an exponent, or digits that a double has not, never fit. */
function isSame(value: JsonValue, wanted: Scalar): boolean {
  if (!(value instanceof JsonNumber)) return value === wanted;
  return typeof wanted === 'number' && value.text.replace(/\.0+$/, '') === String(wanted);
}

const NAME_CHARS_MAX = 128;

/** A name that a sender chose, in an answer. */
export const quoted = (name: string): string =>
  JSON.stringify(name.length <= NAME_CHARS_MAX ? name : `${name.slice(0, NAME_CHARS_MAX).toWellFormed()}…`);
