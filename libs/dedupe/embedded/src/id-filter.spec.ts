import { IdFilter } from './id-filter.ts';

const idOf = (n: number) => `acme/clicks/evt-${n}`;

describe('IdFilter', () => {
  // kills: id-filter.ts: this.#segments.some( => this.#segments.slice(-1).some(
  test('DDP-1: knows every id that was added, also after it grew', () => {
    const filter = new IdFilter();
    const unknown: number[] = [];
    for (let n = 0; n < 150_000; n++) filter.add(idOf(n));
    for (let n = 0; n < 150_000; n++) if (!filter.mayHave(idOf(n))) unknown.push(n);
    expect(unknown).toEqual([]);
  });

  // kills: id-filter.ts: PROBES = 8 => PROBES = 1
  test('DDP-5: hardly ever takes another id for one of its own, whether it grew or not', () => {
    const grown = new IdFilter();
    const made = new IdFilter(100_000);
    for (let n = 0; n < 100_000; n++) [grown, made].forEach((filter) => filter.add(idOf(n)));
    for (const filter of [grown, made]) {
      let mistakes = 0;
      for (let n = 100_000; n < 120_000; n++) if (filter.mayHave(idOf(n))) mistakes++;
      expect(mistakes).toBeLessThan(20);
    }
  });

  // kills: id-filter.ts: Math.max(ids, SEGMENT_IDS_MIN), idsLeft) => Math.max(ids, SEGMENT_IDS_MIN), ids)
  test('OPS-4: is never larger than 64 MiB, and full it still knows every id', () => {
    const filter = new IdFilter(1e9);
    expect(filter.bytes).toBeLessThanOrEqual(64 << 20);
    filter.add('a');
    expect([filter.mayHave('a'), filter.mayHave('b')]).toEqual([true, false]);
  });
});
