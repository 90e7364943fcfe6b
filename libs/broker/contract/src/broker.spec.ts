import { failedTitles, titlesNaming } from '@tidemark/libs-kernel/testing';
import { brokerConformance, brokerMutants, memoryHarness } from './testing.ts';

describe('MemoryBroker', () => {
  test.each(brokerConformance)('$title', ({ run }) => run(memoryHarness()));
});

describe('mutants', () => {
  test.each(Object.entries(brokerMutants))('%s fails exactly the cases that name it', async (name, mutant) => {
    const named = titlesNaming(brokerConformance, name);
    expect(await failedTitles(brokerConformance, () => memoryHarness(mutant))).toEqual(named);
    expect(named).not.toEqual([]);
  });

  test('every case names a mutant of its own, and every mutant that is named exists', () => {
    const killed = brokerConformance.map(({ kills }) => kills);
    expect(new Set(killed)).toEqual(new Set(Object.keys(brokerMutants)));
    expect(killed.length).toBe(new Set(killed).size);
  });
});
