import { type MemoryParts, brokerConformance, brokerMutants, memoryHarness } from './testing.ts';

describe('MemoryBroker', () => {
  test.each(brokerConformance)('$title', ({ run }) => run(memoryHarness()));
});

describe('mutants', () => {
  test.each(Object.entries(brokerMutants))('%s fails exactly the cases that name it', async (name, mutant) => {
    const named = brokerConformance.filter(({ kills, alsoFails }) => kills === name || alsoFails?.includes(name));
    expect(await failedTitles(mutant)).toEqual(named.map(({ title }) => title));
    expect(named).not.toEqual([]);
  });

  test('every case names a mutant of its own, and every mutant that is named exists', () => {
    const killed = brokerConformance.map(({ kills }) => kills);
    expect(new Set(killed)).toEqual(new Set(Object.keys(brokerMutants)));
    expect(killed.length).toBe(new Set(killed).size);
  });
});

async function failedTitles(mutant: MemoryParts): Promise<string[]> {
  const failed: string[] = [];
  for (const { title, run } of brokerConformance) await run(memoryHarness(mutant)).catch(() => failed.push(title));
  return failed;
}
