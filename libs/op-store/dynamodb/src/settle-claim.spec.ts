import { settleClaim } from './settle-claim.ts';

const CODES = [
  'None',
  'ConditionalCheckFailed',
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
  'ItemCollectionSizeLimitExceeded',
  'ValidationError',
];
const TRANSIENT = ['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded'];

const pairs = CODES.flatMap((prefix) => CODES.map((uuid) => [prefix, uuid] as const));

// kills: settle-claim.ts: { kind: 'own' } => { kind: 'taken' }
test.each(pairs)(
  'RLY-15: a claim cancelled with %s for the prefix and %s for the replica has one meaning',
  (prefix, uuid) => {
    const certain = uuid === 'ConditionalCheckFailed' ? 'own' : prefix === 'ConditionalCheckFailed' ? 'taken' : null;
    const passing = TRANSIENT.includes(prefix) || TRANSIENT.includes(uuid) ? 'transient' : 'fatal';
    expect(settleClaim([{ Code: prefix }, { Code: uuid }])).toEqual({ kind: certain ?? passing });
  },
);

test('RLY-15: a cancellation without reasons is a fault', () => {
  expect(settleClaim([])).toEqual({ kind: 'fatal' });
  expect(settleClaim([{}, {}])).toEqual({ kind: 'fatal' });
});
