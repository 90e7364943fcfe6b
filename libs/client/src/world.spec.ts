import { worldOf } from './world.ts';

test('the world of a platform asks its clock, chance, timers and fetch, and a sleep ends early by its signal', async () => {
  const timers = new Map<number, () => void>();
  const world = worldOf<number>({
    Date: { now: () => 5 },
    Math: { random: () => 0.25 },
    performance: { now: () => 7 },
    crypto: { getRandomValues: (bytes) => bytes.fill(9) },
    fetch: async (url) => new Response(String(url)),
    setTimeout: (wake, ms) => timers.set(ms, wake) && ms,
    clearTimeout: (timer) => void timers.delete(timer),
  });
  expect([world.clock.now(), world.clock.monotonic(), world.random.fraction()]).toEqual([5, 7, 0.25]);
  expect([...world.random.bytes(2)]).toEqual([9, 9]);
  expect(await (await world.fetch('x:y')).text()).toBe('x:y');
  const slept = world.sleeper.sleep(30);
  timers.get(30)?.();
  await slept;
  const ends = new AbortController();
  const aborted = world.sleeper.sleep(40, ends.signal);
  ends.abort();
  await aborted;
  await world.sleeper.sleep(50, ends.signal);
  const long = world.sleeper.sleep(2 ** 40);
  expect([...timers.keys()]).toEqual([2 ** 31 - 1]);
  timers.get(2 ** 31 - 1)?.();
  await long;
  timers.clear();
  expect([...timers.keys()]).toEqual([]);
});

test('the globals of Node are such a platform', async () => {
  const world = worldOf(globalThis);
  const before = world.clock.monotonic();
  await world.sleeper.sleep(1);
  expect(world.clock.monotonic()).toBeGreaterThan(before);
  expect(world.random.bytes(8)).toHaveLength(8);
});
