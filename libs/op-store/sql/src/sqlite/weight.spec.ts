import { countThatFit, fitsBeside, sumOf } from './weight.ts';

const ofRows = (...rows: number[]) => rows.map((n) => ({ weight: { rows: n, units: 0 } }));
const ofUnits = (...mebi: number[]) => mebi.map((n) => ({ weight: { rows: 1, units: n * 1024 * 1024 } }));

// kills: weight.ts: rows > WEIGHT_MAX.rows => rows > 2 * WEIGHT_MAX.rows
// kills: weight.ts: units > WEIGHT_MAX.units => units > 2 * WEIGHT_MAX.units
it.each([
  ['nothing', [], 0],
  ['all that fit', ofRows(6000, 4000), 2],
  ['ten thousand rows', ofRows(6000, 4000, 1), 2],
  ['one, however many its rows are', ofRows(20_000, 1), 1],
  ['16 Mi units of text', ofUnits(8, 8, 1), 2],
  ['one, however long its text is', ofUnits(40, 1), 1],
  ['none out of its turn', ofRows(1, 20_000, 1), 1],
])('OPS-4: a transaction takes %s', (_, waiting, count) => {
  expect(countThatFit(waiting)).toBe(count);
});

it('OPS-4: batches weigh what their commands weigh', () => {
  const commands = [{ weight: { rows: 2, units: 30 } }, { weight: { rows: 1, units: 4 } }];
  expect(sumOf(commands)).toEqual({ rows: 3, units: 34 });
});

// kills: weight.ts: rows <= 2 * WEIGHT_MAX.rows => rows <= 3 * WEIGHT_MAX.rows
// kills: weight.ts: units <= 2 * WEIGHT_MAX.units => units <= 3 * WEIGHT_MAX.units
it.each([
  ['two transactions of rows', ofRows(6000, 6000), ofRows(8000), true],
  ['no more rows', ofRows(6000, 6000), ofRows(8001), false],
  ['two transactions of text', ofUnits(16, 8), ofUnits(8), true],
  ['no more text', ofUnits(16, 8), ofUnits(9), false],
  ['one batch, however heavy', [], ofUnits(100), true],
])('OPS-4: the writer is sent %s', (_, sent, [next], fits) => {
  expect(fitsBeside(new Set(sent), next!)).toBe(fits);
});
