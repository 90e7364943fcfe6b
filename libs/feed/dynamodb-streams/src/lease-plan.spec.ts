import fc from 'fast-check';
import { planLeases, type SeenLease } from './lease-plan.ts';

const lease = (key: string, owner: string | null, more: Partial<SeenLease> = {}): SeenLease => ({
  key,
  owner,
  isExpired: false,
  isSettled: true,
  ...more,
});

test('FLD-5: a worker alone takes all leases that are free or expired', () => {
  const leases = [lease('a', null), lease('b', 'dead', { isExpired: true }), lease('c', null)];
  expect(planLeases('me', leases)).toEqual({ take: ['a', 'b', 'c'], steal: null });
});

test('FLD-5: of the free leases a worker takes what its fair share lacks', () => {
  const leases = [lease('a', 'me'), lease('b', 'other'), lease('c', null), lease('d', null)];
  expect(planLeases('me', leases)).toEqual({ take: ['c'], steal: null });
});

test('FLD-5: it steals one lease, of the worker that has the most, when nothing is free', () => {
  const leases = [lease('a', 'x'), lease('b', 'y'), lease('c', 'y'), lease('d', 'y')];
  expect(planLeases('me', leases)).toEqual({ take: [], steal: 'b' });
});

test('FLD-5: shares that differ by one are left alone, so that nobody steals in circles', () => {
  expect(planLeases('me', [lease('a', 'x'), lease('b', 'y')]).steal).toBeNull();
  expect(planLeases('me', [lease('a', 'me'), lease('b', 'y'), lease('c', 'y')]).steal).toBeNull();
});

// kills: lease-plan.ts: owner === victim && isSettled => owner === victim
test('FLD-5: a lease that was stolen just now is not stolen again: at most two workers read one shard', () => {
  const fresh = { isSettled: false };
  const leases = [lease('a', 'x', fresh), lease('b', 'x', fresh), lease('c', 'x')];
  expect(planLeases('me', leases).steal).toBe('c');
  expect(planLeases('me', leases.slice(0, 2)).steal).toBeNull();
});

test('FLD-5: whatever the shares were, turns lead to shares that differ by one at most, and then nothing moves', () => {
  const owners = fc.array(fc.constantFrom('w0', 'w1', 'w2', 'dead', null), { maxLength: 40 });
  fc.assert(
    fc.property(owners, (first) => {
      const workers = ['w0', 'w1', 'w2'];
      const held: (string | null)[] = [...first];
      const turn = (me: string): number => {
        const seen = held.map((owner, i) => lease(String(i), owner, { isExpired: owner === 'dead' }));
        const { take, steal } = planLeases(me, seen);
        const moved = steal === null ? take : [...take, steal];
        for (const key of moved) held[Number(key)] = me;
        return moved.length;
      };
      for (let n = 0; n <= first.length; n++) workers.forEach(turn);
      const counts = workers.map((worker) => held.filter((owner) => owner === worker).length);
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
      expect(held).not.toContain('dead');
      expect(held).not.toContain(null);
      expect(workers.map(turn)).toEqual([0, 0, 0]);
    }),
  );
});
