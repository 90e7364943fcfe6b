import fc from 'fast-check';
import { add, change, remove, version } from './conformance/harness.ts';
import { strongest } from './strongest.ts';
import { MemoryViews } from './testing.ts';
import type { ViewChange } from './views.ts';
import { NOTHING_FOLDED } from './watermark-state.ts';

const small = fc.bigInt({ min: -1n, max: 1n });
const versions = fc.record({ rank: small, lamport: small, site: small, seq: fc.bigInt({ min: 1n, max: 3n }) });
const changes: fc.Arbitrary<ViewChange> = fc
  .tuple(fc.constantFrom('a', 'b'), versions, fc.constantFrom('higher', 'lower', 'remove'))
  .map(([member, parts, effect]) => {
    if (effect === 'remove') return remove(member, { seq: parts.seq });
    const written = { version: version(parts), value: Object.values(parts).join(' ') };
    return effect === 'lower' ? add(member, written) : change(written);
  });

describe('the strongest changes of a call', () => {
  it('FLD-1: leave what all of them leave, and are one per cell', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(changes, { maxLength: 12 }), async (all) => {
        const few = strongest(all);
        expect(new Set(few.map(({ field, member }) => `${field} ${member}`)).size).toBe(few.length);
        expect(await documentAfter(few)).toEqual(await documentAfter(all));
      }),
    );
  });
});

async function documentAfter(all: readonly ViewChange[]) {
  const views = new MemoryViews();
  await views.saveMark('s', 1, NOTHING_FOLDED, 0, new Map());
  await views.apply('s', 1, all);
  return views.document('s', 'events', 'e1');
}
