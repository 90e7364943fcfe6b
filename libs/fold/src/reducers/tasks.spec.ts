import type { SequencedOp } from '@tidemark/libs-op-store-contract';
import { foldsAlikeInAnyOrder, foldsAsToldTwice } from '../testing/tasks/differential.ts';
import { taskReducers } from '../testing/tasks/fold.ts';

interface Counts {
  folded: number;
  not_folded: number;
  refused: number;
}

describe('the ops of docs/examples/tasks.json', () => {
  /** What became of each shape of op in the logs of the first test. */
  const met = new Map<string, Counts>();

  function count({ op }: SequencedOp): void {
    const shape = `${op.domain} ${op.targetKind} ${op.opType}`;
    const counts = met.get(shape) ?? { folded: 0, not_folded: 0, refused: 0 };
    counts[taskReducers.reduce({ seq: 1n, op }).kind]++;
    met.set(shape, counts);
  }

  it('FLD-1: fold to what the catalogue says of the whole log', () => foldsAsToldTwice(200, count));

  it('were met in every shape, folded, not folded and refused', () => {
    const never = (what: keyof Counts) => [...met].filter(([, counts]) => counts[what] === 0).map(([shape]) => shape);
    const all = (what: keyof Counts) => [...met.values()].reduce((sum, counts) => sum + counts[what], 0);
    expect(never('folded')).toEqual(['odd item set']);
    expect(never('not_folded')).toEqual([]);
    expect(all('folded')).toBeGreaterThan(1000);
    expect(all('refused')).toBeGreaterThan(400);
  });

  it('FLD-1, FLD-5: fold to the same bytes in any order, repeated, by two workers at once', () =>
    foldsAlikeInAnyOrder(200));
});
