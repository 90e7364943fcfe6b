import { freshRow, type LeaseRow, SHARD_END, TRIM_HORIZON } from './lease-row.ts';
import { generations, isReadable, missingFrom, planLineage, type Shard } from './lineage.ts';

const listingOf = (...shards: (readonly [id: string, parent: string | null])[]): Map<string, Shard> =>
  new Map(shards.map(([id, parent]) => [id, { id, parent }]));

const rowsOf = (...rows: (readonly [id: string, checkpoint: string, parent?: string])[]): Map<string, LeaseRow> =>
  new Map(rows.map(([id, checkpoint, parent]) => [id, freshRow(`shard/l/${id}`, checkpoint, parent ?? null)]));

const here = () => false;
const away = () => true;

test('FLD-4: shards that are listed in any order are found parents first', () => {
  const listing = listingOf(['c', 'b'], ['b', 'a'], ['a', null], ['d', 'b']);
  const { found, waiting } = planLineage(listing, new Map(), here, here);
  expect(found.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd']);
  expect(waiting).toBe(0);
  expect(generations(found).map((part) => part.map(({ id }) => id))).toEqual([['a'], ['b'], ['c', 'd']]);
});

test('FLD-4, F10: a child whose parent is not listed waits, because a later listing may show it', () => {
  const listing = listingOf(['child', 'parent'], ['grandchild', 'child']);
  expect(planLineage(listing, new Map(), here, here)).toMatchObject({ found: [], orphans: [], waiting: 2 });
  expect(missingFrom(listing, new Map())).toEqual(['parent']);
});

test('FLD-4: a parent that stays away was trimmed before anybody saw it, and that is told', () => {
  const { found, orphans } = planLineage(listingOf(['child', 'parent']), new Map(), away, here);
  expect(found.map(({ id }) => id)).toEqual(['child']);
  expect(orphans).toEqual(['child']);
});

test('FLD-4: a parent that was seen needs no listing', () => {
  const plan = planLineage(listingOf(['child', 'parent']), rowsOf(['parent', SHARD_END]), here, here);
  expect(plan).toMatchObject({ found: [{ id: 'child' }], orphans: [], waiting: 0 });
});

// kills: lineage.ts: checkpoint === SHARD_END && !listing.has(id) && isLongAway(id) => checkpoint === SHARD_END
test('F8: the row of a finished shard stays as long as the shard is listed, and while it may be again', () => {
  const rows = rowsOf(['listed', SHARD_END], ['gone', SHARD_END], ['open', TRIM_HORIZON]);
  const listing = listingOf(['listed', null]);
  expect(planLineage(listing, rows, away, here).finished).toEqual([]);
  expect(planLineage(listing, rows, away, away).finished).toEqual([rows.get('gone')]);
});

// kills: lineage.ts: : row.checkpoint === SHARD_END; => : true;
test('FLD-4: a child is read when its parent is at its end, not before', () => {
  const listing = listingOf(['parent', null], ['child', 'parent']);
  const before = rowsOf(['parent', '123'], ['child', TRIM_HORIZON, 'parent']);
  const after = rowsOf(['parent', SHARD_END], ['child', TRIM_HORIZON, 'parent']);
  const child = before.get('child') as LeaseRow;
  expect(isReadable(child, listing, before)).toBe(false);
  expect(isReadable(child, listing, after)).toBe(true);
});

test('FLD-4: a child whose parent is neither listed nor known is read; one whose parent turns up late is not any more', () => {
  const rows = rowsOf(['child', '123', 'parent']);
  const child = rows.get('child') as LeaseRow;
  expect(isReadable(child, listingOf(['child', 'parent']), rows)).toBe(true);
  expect(isReadable(child, listingOf(['child', 'parent'], ['parent', null]), rows)).toBe(false);
});

test('F10: a shard that is its own ancestor stops nothing', () => {
  const { found } = planLineage(listingOf(['a', 'b'], ['b', 'a'], ['c', null]), new Map(), here, here);
  expect(found.map(({ id }) => id)).toEqual(['c']);
});
