import { inParallel } from './in-parallel.ts';

describe('calls in parallel', () => {
  it('RLY-5: answer in the order of their items, and never more at once than allowed', async () => {
    let [running, most] = [0, 0];
    const call = async (n: number): Promise<number> => {
      most = Math.max(most, ++running);
      for (let i = 0; i <= n % 5; i++) await null;
      running--;
      return n * 2;
    };
    const items = Array.from({ length: 40 }, (_, i) => i);
    expect(await inParallel(items, 7, call)).toEqual(items.map((n) => n * 2));
    expect(most).toBe(7);
    expect(await inParallel([], 7, call)).toEqual([]);
  });

  // kills: in-parallel.ts: hasFailed = true; => hasFailed = false;
  it('OPS-6: end with the first that fails, and none begins after it', async () => {
    const begun: number[] = [];
    const call = async (n: number): Promise<void> => {
      begun.push(n);
      if (n === 1) throw new Error('one');
      for (let i = 0; i < 9; i++) await null;
    };
    await expect(inParallel([0, 1, 2, 3, 4, 5], 2, call)).rejects.toThrow('one');
    for (let i = 0; i < 99; i++) await null;
    expect(begun).toEqual([0, 1]);
  });
});
