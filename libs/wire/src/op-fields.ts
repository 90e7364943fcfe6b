/** What a field of an op may hold. */
export type FieldKind = 'version' | 'integer' | 'text' | 'text or null';

export interface OpField {
  readonly name: string;
  readonly kind: FieldKind;
  readonly required: boolean;
}

const field = (name: string, kind: FieldKind = 'text', required = true): OpField => ({ name, kind, required });

/** The op's own fields in the order in which they are written, and nearly always read. */
export const OP_FIELDS: readonly OpField[] = [
  field('envelope_version', 'version'),
  field('op_id'),
  field('lamport', 'integer'),
  field('site', 'integer'),
  field('domain', 'text', false),
  field('target_kind'),
  field('target_id'),
  field('field'),
  field('op_type'),
  field('value', 'text or null', false),
  field('author'),
  field('wall_clock'),
];

const NAMES: ReadonlySet<string> = new Set(OP_FIELDS.map(({ name }) => name));

export function isOpField(key: string): boolean {
  return NAMES.has(key);
}
