import type { ViewChange } from '@tidemark/libs-views-contract';

/**
 * Whether changes of one op write a cell twice. Both writes have one version, so which of them stayed would be a matter of who applied
 * them, and in which order.
 */
export function writtenTwice(changes: readonly ViewChange[]): boolean {
  const written = changes.filter(({ effect }) => effect === 'register');
  if (written.length < 2) return false;
  // Lengths keep apart what no separator could: a name may hold any character.
  const cells = written.map(
    ({ kind, id, field, member }) => `${kind.length}:${kind}${id.length}:${id}${field.length}:${field}${member}`,
  );
  return new Set(cells).size < cells.length;
}

export const WRITTEN_TWICE = 'one cell is written twice';
