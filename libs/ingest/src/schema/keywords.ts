import type { FuncKeywordDefinition } from 'ajv/dist/2020.js';
import { type Plain, canonicalText } from './plain.ts';

/**
 * The keywords that compare whole values. The engine's own compare members called `constructor`, `valueOf` and `toString` as if they were
 * methods, and look at each pair of an array: a record could fail the process with the one, and hold it up with the other.
 */
export const COMPARING: readonly FuncKeywordDefinition[] = [
  {
    keyword: 'const',
    error: { message: 'must be equal to constant' },
    compile: (wanted: Plain) => {
      const text = canonicalText(wanted);
      return (value: Plain) => canonicalText(value) === text;
    },
  },
  {
    keyword: 'enum',
    schemaType: 'array',
    error: { message: 'must be equal to one of the allowed values' },
    compile: (allowed: Plain[]) => {
      const texts = new Set(allowed.map(canonicalText));
      return (value: Plain) => texts.has(canonicalText(value));
    },
  },
  {
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must NOT have duplicate items' },
    compile: (wanted: boolean) => (items: Plain[]) =>
      !wanted || new Set(items.map(canonicalText)).size === items.length,
  },
];
