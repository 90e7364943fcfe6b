import type { RegisterChange, ViewChange } from './views.ts';

/** Of the changes of one call the one that wins in each cell, for stores that write a cell once in a request. */
export function strongest(changes: readonly ViewChange[]): ViewChange[] {
  const cells = new Map<string, ViewChange>();
  for (const change of changes) {
    const { kind, id, field, member } = change;
    const cell = JSON.stringify([kind, id, field, member]);
    const known = cells.get(cell);
    if (!known || beats(change, known)) cells.set(cell, change);
  }
  return [...cells.values()];
}

/** A remove beats every write, and the remove of a lower seq a later one. */
export function beats(change: ViewChange, known: ViewChange): boolean {
  if (change.effect === 'remove') return known.effect !== 'remove' || change.seq < known.seq;
  return known.effect !== 'remove' && isHigher(change, known);
}

function isHigher({ version: a, rule }: RegisterChange, { version: b }: RegisterChange): boolean {
  if (a.rank !== b.rank) return a.rank > b.rank === (rule === 'higher');
  if (a.lamport !== b.lamport) return a.lamport > b.lamport === (rule === 'higher');
  if (a.site !== b.site) return a.site > b.site === (rule === 'higher');
  return a.seq < b.seq;
}
