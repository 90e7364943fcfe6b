import { JsonNumber, type JsonValue, jsonSpan, quoteJson } from '@tidemark/libs-wire';
import type { Field } from './field.ts';

/** What a member may be set to. */
export type Scalar = string | number | boolean;

/** A value that a rule puts into a record. */
export interface Edit {
  readonly field: Field;
  readonly value: Scalar;
}

/**
 * The record's text with some values replaced and some members added at its end; everything else stays as it was written, to the digit.
 * `replaced` are there, do not overlap, and are no repeated members; `added` are absent.
 */
export function rewrite(text: string, replaced: readonly Edit[], added: readonly Edit[]): string {
  const places = replaced.flatMap(({ field, value }) => {
    const span = jsonSpan(text, field.path);
    return span === null ? [] : [{ ...span, json: jsonOf(value) }];
  });
  // From the back, so that the places before stay true.
  places.sort((a, b) => b.start - a.start);
  const changed = places.reduce((now, { start, end, json }) => now.slice(0, start) + json + now.slice(end), text);
  return added.length === 0 ? changed : withMembers(changed, added);
}

function withMembers(text: string, added: readonly Edit[]): string {
  const end = text.lastIndexOf('}');
  const before = text.slice(0, end).trimEnd();
  const members = added.map(({ field, value }) => `${quoteJson(field.path[0] ?? '')}:${jsonOf(value)}`).join(',');
  return `${before}${before.endsWith('{') ? '' : ','}${members}}`;
}

export const jsonOf = (value: Scalar): string => (typeof value === 'string' ? quoteJson(value) : String(value));

/** The value that the record has at the field once the edits are made; undefined when no edit touches it. */
export function editedValue(edits: readonly Edit[], { path }: Field): JsonValue | undefined {
  const edit = edits.find(
    ({ field }) => field.path.length === path.length && field.path.every((step, i) => step === path[i]),
  );
  return edit === undefined ? undefined : toJson(edit.value);
}

const toJson = (value: Scalar): JsonValue => (typeof value === 'number' ? new JsonNumber(String(value)) : value);
