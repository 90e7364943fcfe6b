import { type ConformanceCase, failedTitles, titlesNaming } from '@tidemark/libs-kernel/testing';
import {
  indexedOpStoreConformance,
  memoryOpStore,
  memoryPrefixRegistry,
  memoryPresenceBoard,
  opStoreMutants,
  prefixRegistryConformance,
  prefixRegistryMutants,
  presenceBoardConformance,
  presenceBoardMutants,
} from './testing.ts';

judge('OpStore', indexedOpStoreConformance, opStoreMutants, memoryOpStore);
judge('PrefixRegistry', prefixRegistryConformance, prefixRegistryMutants, memoryPrefixRegistry);
judge('PresenceBoard', presenceBoardConformance, presenceBoardMutants, memoryPresenceBoard);

/** The model passes every case; each mutant fails the cases that name it, and no other. */
function judge<Harness, Model>(
  port: string,
  cases: readonly ConformanceCase<Harness>[],
  mutants: Readonly<Record<string, Model>>,
  harness: (model?: Model) => Harness,
): void {
  describe(`the memory model of ${port}`, () => {
    test.each(cases)('$title', ({ run }) => run(harness()));
  });

  describe(`the cases of ${port}`, () => {
    it('name every mutant', () => {
      expect(new Set(cases.flatMap(({ kills }) => kills ?? []))).toEqual(new Set(Object.keys(mutants)));
    });

    test.each(Object.entries(mutants))(
      'catch the mutant %s where they name it, and nowhere else',
      async (name, mutant) => {
        expect(await failedTitles(cases, () => harness(mutant))).toEqual(titlesNaming(cases, name));
      },
    );
  });
}
