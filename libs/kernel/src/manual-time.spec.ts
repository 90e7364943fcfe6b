import { ManualTime } from './manual-time.ts';
import { SeededRandom } from './seeded-random.ts';

test('sleeps end in the order of their times, and only when time is moved', async () => {
  const time = new ManualTime(1000);
  const woken: string[] = [];
  const sleeps = [
    time.sleep(20).then(() => woken.push('20')),
    time.sleep(10).then(() => woken.push('10')),
    time.sleep(30).then(() => woken.push('30')),
  ];
  expect(time.sleepers).toBe(3);
  time.advance(25);
  await Promise.all(sleeps.slice(0, 2));
  expect(woken).toEqual(['10', '20']);
  time.advance(5);
  await sleeps[2];
  expect([time.now(), time.monotonic(), time.sleepers]).toEqual([1030, 30, 0]);
});

test('a sleep ends at once when its signal aborts, and is forgotten', async () => {
  const time = new ManualTime();
  const stop = new AbortController();
  const sleep = time.sleep(10, stop.signal);
  stop.abort();
  await sleep;
  await time.sleep(10, stop.signal);
  expect(time.sleepers).toBe(0);
});

test('a jump of the wall clock is not seen by the monotonic clock', () => {
  const time = new ManualTime(1000);
  time.jumpWall(-500);
  expect([time.now(), time.monotonic()]).toEqual([500, 0]);
});

test('one seed gives one sequence', () => {
  const draw = (seed: number) => {
    const random = new SeededRandom(seed);
    return [random.fraction(), random.fraction(), ...random.bytes(4)];
  };
  expect(draw(7)).toEqual(draw(7));
  expect(draw(7)).not.toEqual(draw(8));
});
