import { readJson } from '@tidemark/libs-wire';
import { Ledger, documentKey } from './ledger.ts';

const op = (n: number) => ({ stream: '0.events', opId: `op-${n}`, kind: 'events', id: `e-${n}`, body: `{"n":${n}}` });
const view = (...numbers: number[]) =>
  new Map(numbers.map((n) => [documentKey('events', `e-${n}`), readJson(`{"n":${n}}`)]));
const log = (...numbers: number[]) => numbers.map((n) => ({ opId: `op-${n}` }));

let ledger: Ledger;

beforeEach(() => {
  ledger = new Ledger();
  for (const n of [1, 2, 2]) ledger.add(op(n));
});

test('what is in the log once and in the view breaks no promise, also beside ops that nobody saw accepted', () => {
  expect(ledger.violations('0.events', log(1, 2, 3), view(1, 2, 3))).toEqual([]);
  expect([ledger.size, ledger.streams]).toEqual([2, ['0.events']]);
});

// kills: ledger.ts: !times.has(opId) => times.has(opId)
test('an accepted op that the log does not hold is lost', () => {
  expect(ledger.violations('0.events', log(2), view(1, 2))).toEqual(['0.events: op op-1 was accepted and lost']);
});

// kills: ledger.ts: n > 1 => n > 2
test('an op that the log holds twice is named, whoever sent it', () => {
  expect(ledger.violations('0.events', log(1, 2, 7, 7), view(1, 2))).toEqual([
    '0.events: op op-7 is in the log 2 times',
  ]);
});

test('a document that is missing, and one that is another, are named', () => {
  const other = new Map([[documentKey('events', 'e-2'), readJson('{"n":3}')]]);
  expect(ledger.violations('0.events', log(1, 2), other)).toEqual([
    '0.events: events e-1 is not in the view',
    '0.events: events e-2 is {"n":3} in the view, and {"n":2} was accepted',
  ]);
});
