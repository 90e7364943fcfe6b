import { backoffMs } from './backoff.ts';
import { SeededRandom } from './seeded-random.ts';

const shape = { baseMs: 10, ceilingMs: 1000 };

test('the wait is spread over the whole range, which doubles up to its ceiling', () => {
  const random = new SeededRandom(1);
  for (const [attempt, ceilingMs] of [0, 1, 2, 6, 7, 100].map((n) => [n, Math.min(1000, 10 * 2 ** n)] as const)) {
    const waits = Array.from({ length: 200 }, () => backoffMs(attempt, shape, random));
    expect(Math.max(...waits)).toBeLessThan(ceilingMs);
    expect(Math.max(...waits)).toBeGreaterThan(ceilingMs * 0.9);
    expect(Math.min(...waits)).toBeLessThan(ceilingMs * 0.1);
  }
});
