import { foldsAlikeInAnyOrder, foldsAsToldTwice } from '../testing/tasks/differential.ts';

jest.setTimeout(600_000);

describe('the ops of docs/examples/tasks.json, in thousands of logs', () => {
  it('FLD-1: fold to what the catalogue says of the whole log', () => foldsAsToldTwice(5000));

  it('FLD-1, FLD-5: fold to the same bytes in any order, repeated, by two workers at once', () =>
    foldsAlikeInAnyOrder(5000));
});
