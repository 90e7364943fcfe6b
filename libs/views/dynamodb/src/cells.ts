import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { Fault } from '@tidemark/libs-kernel';
import type { Document, Field, FieldShape, Member, ViewChange } from '@tidemark/libs-views-contract';
import { type Item, escaped, idOf, unescaped } from './keys.ts';
import { strengthOf, versionOf } from './strength.ts';

/**
 * A cell is an attribute of its document's item, named `<field>#<member>`, with `%` and `#` of the field escaped: a map of its shape `s`, value
 * `v` and strength `w`, or of `s` and the seq `x` that removed it, for ever. The item's own attributes have no `#` in their names.
 */
export interface CellWrite {
  readonly change: ViewChange;
  readonly name: string;
  readonly cell: Readonly<Record<string, AttributeValue>>;
}

export function cellWrite(change: ViewChange): CellWrite {
  const { field, member, shape } = change;
  const name = `${escaped(field)}#${member}`;
  if (change.effect === 'remove') return { change, name, cell: { s: { S: shape }, x: { N: String(change.seq) } } };
  const w = { S: strengthOf(change.version, change.rule) };
  return { change, name, cell: { s: { S: shape }, v: { S: change.value }, w } };
}

/** What a request says of the n-th cell that it writes: the write would change something. */
export function condition({ change }: CellWrite, nth: number): string {
  return change.effect === 'remove'
    ? `(attribute_not_exists(#c${nth}.#x) OR #c${nth}.#x > :x${nth})`
    : `(attribute_not_exists(#c${nth}) OR #c${nth}.#w < :w${nth})`;
}

/** The same of the item as it was found. */
export function changes({ change, name, cell }: CellWrite, item: Item | undefined): boolean {
  const stored = item?.[name]?.M;
  if (!stored) return true;
  if (change.effect === 'remove') return stored['x']?.N === undefined || BigInt(stored['x'].N) > change.seq;
  return stored['w']?.S !== undefined && stored['w'].S < cell['w']!.S!;
}

/** About what DynamoDB counts of the cell; never more. */
export function cellBytes({ name, cell }: CellWrite): number {
  return Buffer.byteLength(name) + Object.values(cell).reduce((sum, { S = '' }) => sum + 1 + Buffer.byteLength(S), 0);
}

/** null: no member of it is present. */
export function toDocument(kind: string, item: Item): Document | null {
  const fields = new Map<string, Field & { readonly members: Map<string, Member> }>();
  const id = idOf(item['sk']!.S!);
  for (const [name, cell] of Object.entries(item)) {
    const at = name.indexOf('#');
    if (at < 0 || cell.M?.['x'] !== undefined) continue;
    const field = unescaped(name.slice(0, at));
    const known = fields.get(field) ?? { shape: textOf(item, cell, 's') as FieldShape, members: new Map() };
    const version = versionOf(textOf(item, cell, 'w'));
    known.members.set(name.slice(at + 1), { value: textOf(item, cell, 'v'), version });
    fields.set(field, known);
  }
  return fields.size === 0 ? null : { kind, id, fields };
}

function textOf(item: Item, cell: AttributeValue, part: string): string {
  const text = cell.M?.[part]?.S;
  if (text !== undefined) return text;
  throw new Fault('corrupt', `a cell of the document ${JSON.stringify(item['sk']?.S)} has no ${part}`);
}
