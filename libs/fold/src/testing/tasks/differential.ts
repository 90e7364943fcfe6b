import type { SequencedOp } from '@tidemark/libs-op-store-contract';
import { MemoryViews } from '@tidemark/libs-views-contract/testing';
import * as fc from 'fast-check';
import { anyTaskOp } from './arbitrary-op.ts';
import { canonicalFold } from './canonical.ts';
import { fold, parsed, textsOf } from './fold.ts';

const anyLog = fc
  .array(anyTaskOp, { minLength: 1, maxLength: 40, size: 'max' })
  .map((ops) => ops.map((op, at): SequencedOp => ({ seq: BigInt(at + 1), op })));

/** A log folded in its order is what the catalogue says of it. `each` is shown every op. */
export function foldsAsToldTwice(runs: number, each: (op: SequencedOp) => void = () => {}): Promise<void> {
  const property = fc.asyncProperty(anyLog, async (ops) => {
    ops.forEach(each);
    const views = new MemoryViews();
    await fold(views, ops);
    expect(parsed(await textsOf(views))).toEqual(canonicalFold(ops));
  });
  return fc.assert(property, { numRuns: runs });
}

/** A log that two workers fold at once, each some of it in any order, and some of it again, is the log folded in its order. */
export function foldsAlikeInAnyOrder(runs: number): Promise<void> {
  const delivered = anyLog.chain((ops) => fc.tuple(fc.constant(ops), deliveries(ops)));
  const property = fc.asyncProperty(delivered, async ([ops, [first, second]]) => {
    const inOrder = new MemoryViews();
    await fold(inOrder, ops);
    const views = new MemoryViews();
    await Promise.all([fold(views, first), fold(views, second)]);
    expect(await textsOf(views)).toEqual(await textsOf(inOrder));
  });
  return fc.assert(property, { numRuns: runs });
}

/** Any order, some of them again, each delivery to one of two workers. */
function deliveries(ops: readonly SequencedOp[]) {
  const whose = fc.array(fc.boolean(), { minLength: 2 * ops.length, maxLength: 2 * ops.length });
  return fc
    .tuple(fc.shuffledSubarray([...ops], { minLength: ops.length }), fc.shuffledSubarray([...ops]), whose)
    .map(([once, again, mine]) => {
      const all = [...once, ...again];
      return [all.filter((_, at) => mine[at]), all.filter((_, at) => !mine[at])] as const;
    });
}
