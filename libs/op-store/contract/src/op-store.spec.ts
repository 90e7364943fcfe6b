import { memoryOpStoreHarness, opStoreConformance, opStoreMutants } from './testing.ts';

describe('the memory model of the op store', () => {
  test.each(opStoreConformance)('$title', ({ run }) => run(memoryOpStoreHarness()));
});

describe('a mutant of the op store fails exactly the cases that name it:', () => {
  test.each(Object.entries(opStoreMutants))('%s', async (name, mutant) => {
    const failed: string[] = [];
    for (const { title, run } of opStoreConformance) {
      await run(mutant()).catch(() => failed.push(title));
    }
    expect(failed).toEqual(opStoreConformance.filter(({ kills }) => kills === name).map(({ title }) => title));
    expect(failed).not.toEqual([]);
  });
});

test('RLY-5: every mutant that a case names is there', () => {
  const named = opStoreConformance.flatMap(({ kills }) => kills ?? []);
  expect(new Set(named)).toEqual(new Set(Object.keys(opStoreMutants)));
});
