import type { Op } from '@tidemark/libs-wire';
import type { Spot } from './spot.ts';

/** `json`: text that is one JSON value. `list`: texts, of which none is empty. */
export type PartType = 'text' | 'integer' | 'json' | 'list';
export type Part = string | bigint | readonly string[] | null;

/** One op while it is reduced, with what `read` has made of it. */
export interface Frame {
  readonly op: Op;
  readonly parts: Part[];
}

/** A name that templates may use. */
export interface Variable {
  readonly name: string;
  readonly type: PartType;
  readonly nullable: boolean;
  readonly get: (frame: Frame) => Part;
  /** All that it can be, where `when` says so. */
  readonly allowed: readonly string[] | null;
}

const field = (name: string, type: PartType, get: (op: Op) => Part, nullable = false): Variable => ({
  name,
  type,
  nullable,
  get: ({ op }) => get(op),
  allowed: null,
});

const OP_FIELDS: readonly Variable[] = [
  field('op_id', 'text', (op) => op.opId),
  field('lamport', 'integer', (op) => op.lamport),
  field('site', 'integer', (op) => op.site),
  field('target_kind', 'text', (op) => op.targetKind),
  field('target_id', 'text', (op) => op.targetId),
  field('field', 'text', (op) => op.field),
  field('op_type', 'text', (op) => op.opType),
  field('value', 'text', (op) => op.value, true),
  field('author', 'text', (op) => op.author),
  field('wall_clock', 'text', (op) => op.wallClock),
];

const OP_FIELD_NAMES: ReadonlySet<string> = new Set(OP_FIELDS.map(({ name }) => name));

export const isOpField = (name: string): boolean => OP_FIELD_NAMES.has(name);

/** The names of one rule. */
export class Scope {
  readonly #variables = new Map(OP_FIELDS.map((variable) => [variable.name, variable]));
  readonly #allowed: ReadonlyMap<string, readonly string[]>;
  #slots = 0;

  constructor(allowed: ReadonlyMap<string, readonly string[]>) {
    this.#allowed = allowed;
  }

  find(name: string, spot: Spot): Variable {
    const variable = this.#variables.get(name) ?? spot.fail(`no {${name}} is known here`);
    return { ...variable, allowed: this.#allowed.get(name) ?? null };
  }

  /** A new name; answers the slot that its part is put in. */
  define(name: string, spot: Spot, type: PartType, nullable = false): number {
    if (this.#variables.has(name)) spot.fail(`{${name}} is known already`);
    return this.redefine(name, type, nullable);
  }

  /** What the name means from here on. */
  redefine(name: string, type: PartType, nullable = false): number {
    const slot = this.#slots++;
    const get = ({ parts }: Frame): Part => parts[slot] ?? null;
    this.#variables.set(name, { name, type, nullable, get, allowed: null });
    return slot;
  }
}
