import { failedTitles, titlesNaming } from '@tidemark/libs-kernel/testing';
import { casesFor, dedupeConformance, dedupeMutants, memoryHarness } from './testing.ts';

const { manifest } = memoryHarness();

describe('MemoryDeduplicator', () => {
  test.each(casesFor(manifest))('$title', ({ run }) => run(memoryHarness()));
});

describe('mutants', () => {
  test.each(Object.entries(dedupeMutants))('%s fails exactly the cases that name it', async (name, mutant) => {
    const named = titlesNaming(dedupeConformance, name);
    expect(await failedTitles(dedupeConformance, () => memoryHarness(mutant))).toEqual(named);
    expect(named).not.toEqual([]);
  });

  test('every mutant that a case names exists', () => {
    const named = dedupeConformance
      .flatMap(({ kills, alsoFails = [] }) => [kills, ...alsoFails])
      .filter((name) => name !== undefined);
    expect(new Set(named)).toEqual(new Set(Object.keys(dedupeMutants)));
  });
});

test('a backend whose clients cannot share a store runs every case but those of two clients', () => {
  const alone = casesFor({ ...manifest, sharedAcrossProcesses: false });
  expect(dedupeConformance.filter((one) => !alone.includes(one)).map(({ needs }) => needs)).toEqual([
    'sharedAcrossProcesses',
    'sharedAcrossProcesses',
  ]);
});
