import { failedTitles, titlesNaming } from '@tidemark/libs-kernel/testing';
import { feedConformance, feedMutants, memoryFeed } from './testing.ts';

describe('the memory model of Feed', () => {
  test.each(feedConformance)('$title', ({ run }) => run(memoryFeed()));
});

describe('the cases of Feed', () => {
  test('name every mutant', () => {
    expect(new Set(feedConformance.flatMap(({ kills }) => kills ?? []))).toEqual(new Set(Object.keys(feedMutants)));
  });

  test.each(Object.entries(feedMutants))(
    'catch the mutant %s where they name it, and nowhere else',
    async (name, mutant) => {
      expect(await failedTitles(feedConformance, () => memoryFeed(mutant))).toEqual(
        titlesNaming(feedConformance, name),
      );
    },
  );
});
