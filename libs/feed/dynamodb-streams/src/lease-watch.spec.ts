import { freshRow } from './lease-row.ts';
import { LeaseWatch } from './lease-watch.ts';

const row = (counter: number, epoch = 1) => ({ ...freshRow('a', ''), counter, epoch });

test('FLD-5: a lease is watched from the first time that it was seen as it is', () => {
  const watch = new LeaseWatch(100);
  expect(watch.unchangedMs('a', 1000)).toBe(0);
  watch.see([row(1)], 1000);
  watch.see([row(1)], 1050);
  expect(watch.unchangedMs('a', 1080)).toBe(80);
  watch.see([row(2)], 1100);
  expect([watch.unchangedMs('a', 1110), watch.sameOwnerMs('a', 1110)]).toEqual([10, 110]);
  watch.see([row(3, 2)], 1150);
  expect([watch.unchangedMs('a', 1150), watch.sameOwnerMs('a', 1150)]).toEqual([0, 0]);
});

// kills: lease-watch.ts: if (readAtMs - this.#readAtMs > this.#gapMsMax) => if (this.#gapMsMax < 0)
test('F13: a time in which the rows could not be read says nothing of their owners', () => {
  const watch = new LeaseWatch(100);
  watch.see([row(1)], 1000);
  watch.see([row(1)], 2000);
  expect(watch.unchangedMs('a', 2010)).toBe(10);
});

test('FLD-5: a row that is gone is forgotten', () => {
  const watch = new LeaseWatch(100);
  watch.see([row(1)], 1000);
  watch.see([], 1010);
  watch.see([row(1)], 1020);
  expect(watch.unchangedMs('a', 1030)).toBe(10);
});
