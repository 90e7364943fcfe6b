import { failedTitles, titlesNaming } from '@tidemark/libs-kernel/testing';
import { MemoryViews, MemoryViewsStore, type ViewsHarness, viewsConformance, viewsMutants } from './testing.ts';
import type { Views } from './views.ts';

function harness(open: (store: MemoryViewsStore) => Views): ViewsHarness {
  const store = new MemoryViewsStore();
  return { open: async () => open(store) };
}

describe('the memory model of views', () => {
  for (const { title, run } of viewsConformance) {
    it(title, () => run(harness((store) => new MemoryViews(store))));
  }
});

describe('the conformance cases of views', () => {
  it('name every mutant once', () => {
    const killed = viewsConformance.flatMap(({ kills }) => kills ?? []);
    expect([...killed].sort()).toEqual(Object.keys(viewsMutants).sort());
  });

  for (const [name, open] of Object.entries(viewsMutants)) {
    it(`catch the mutant ${name} in its case alone`, async () => {
      expect(await failedTitles(viewsConformance, () => harness(open))).toEqual(titlesNaming(viewsConformance, name));
    });
  }
});
