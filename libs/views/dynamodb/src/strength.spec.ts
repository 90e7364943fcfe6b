import fc from 'fast-check';
import { strongest } from '@tidemark/libs-views-contract';
import { strengthOf, versionOf } from './strength.ts';

const INT64 = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constantFrom(-(2n ** 63n), -1n, 0n, 1n, 2n ** 62n, 2n ** 62n - 1n, 2n ** 63n - 1n),
);
const versions = fc.record({ rank: INT64, lamport: INT64, site: INT64, seq: INT64 });
const rules = fc.constantFrom('higher' as const, 'lower' as const);

describe('a version as a text', () => {
  it('FLD-1: is greater than another exactly when its write wins', () => {
    const cell = { effect: 'register', kind: 'k', id: 'i', field: 'f', shape: 'register', member: '' } as const;
    fc.assert(
      fc.property(versions, versions, rules, (a, b, rule) => {
        const [winner] = strongest([
          { ...cell, value: 'b', rule, version: b },
          { ...cell, value: 'a', rule, version: a },
        ]);
        expect(winner).toMatchObject({ value: strengthOf(a, rule) > strengthOf(b, rule) ? 'a' : 'b' });
      }),
    );
  });

  it('FLD-1: gives the version back, all 64 bits of each part', () => {
    fc.assert(
      fc.property(versions, rules, (version, rule) => {
        expect(versionOf(strengthOf(version, rule))).toEqual(version);
      }),
    );
  });
});
