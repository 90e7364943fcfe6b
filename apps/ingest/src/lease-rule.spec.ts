import { DUPLICATE_WINDOW_MS } from '@tidemark/libs-kernel';
import { refuseLongLease } from './lease-rule.ts';

// kills: lease-rule.ts: Math.ceil(leaseMs / 1000) * 1000 + 1000 => 1000
test.each([
  ['embedded', 31, 59, 60],
  ['dynamodb', 31, 57, 58],
] as const)(
  'ING-6: with ids in %s a lease of %i s and one of %i s are taken, one of %i s is refused',
  (dedupe, usual, longest, tooLong) => {
    const refuse = (seconds: number) => () => refuseLongLease(seconds * 1000, DUPLICATE_WINDOW_MS, dedupe);
    expect(refuse(usual)).not.toThrow();
    expect(refuse(longest)).not.toThrow();
    const problem = expect.stringContaining(`at most ${longest}`);
    expect(refuse(tooLong)).toThrow(expect.objectContaining({ problems: [problem] }));
  },
);

test('ING-6: a client is told whole seconds, so a lease counts as the whole seconds that it takes up', () => {
  expect(() => refuseLongLease(59_001, DUPLICATE_WINDOW_MS, 'embedded')).toThrow();
  expect(() => refuseLongLease(30_000, 61_000, 'embedded')).not.toThrow();
  expect(() => refuseLongLease(30_000, 60_999, 'embedded')).toThrow();
  expect(() => refuseLongLease(30_000, 65_999, 'dynamodb')).toThrow();
});
