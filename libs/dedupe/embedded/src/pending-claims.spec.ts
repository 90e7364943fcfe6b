import { ManualTime, SeededRandom } from '@tidemark/libs-kernel/testing';
import { PendingClaims } from './pending-claims.ts';

const LEASE_MS = 30_000;
const VERDICTS = Promise.resolve(new Set<string>());

describe('PendingClaims', () => {
  test('OPS-4: lapsed claims are forgotten as new ones come, also behind one with a long lease', () => {
    const { time, pending } = opened();
    hold(pending, 'long', 100 * LEASE_MS);
    let largest = 0;
    for (let second = 0; second < 300; second++) {
      for (let i = 0; i < 100; i++) hold(pending, `${second}-${i}`, LEASE_MS);
      time.advance(1_000);
      largest = Math.max(largest, pending.size);
    }
    expect(largest).toBeLessThanOrEqual(2 * 30 * 100 + 1);
    expect(pending.find('long')).toBeDefined();
  });

  test('DDP-1: an undecided key holds however long its read takes, and has its whole lease afterwards', () => {
    const { time, pending } = opened();
    pending.take('a', VERDICTS);
    time.advance(10 * LEASE_MS);
    expect(pending.find('a')?.verdicts).toBe(VERDICTS);
    pending.settle('a', LEASE_MS);
    time.advance(LEASE_MS - 1);
    expect(pending.find('a')).toBeDefined();
    time.advance(1);
    expect(pending.find('a')).toBeUndefined();
  });

  test('DDP-4: only the owner drops a claim, and tokens of another opening own nothing', () => {
    const { pending } = opened();
    const other = opened(2).pending;
    const token = hold(pending, 'a', LEASE_MS);
    pending.drop('a', hold(other, 'a', LEASE_MS));
    expect(pending.find('a')).toBeDefined();
    pending.drop('a', token);
    expect(pending.find('a')).toBeUndefined();
  });
});

function opened(seed = 1): { time: ManualTime; pending: PendingClaims } {
  const time = new ManualTime();
  return { time, pending: new PendingClaims(time, new SeededRandom(seed)) };
}

function hold(pending: PendingClaims, stored: string, leaseMs: number): string {
  const token = pending.take(stored, VERDICTS);
  pending.settle(stored, leaseMs);
  return token;
}
