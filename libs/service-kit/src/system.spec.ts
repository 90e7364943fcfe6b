import { systemClock, systemRandom, systemSleeper } from './system.ts';

test('a sleep of no time lets others run without a timer', async () => {
  const timer = jest.spyOn(globalThis, 'setTimeout');
  let others = false;
  setImmediate(() => (others = true));
  await systemSleeper.sleep(0);
  expect(others).toBe(true);
  expect(timer).not.toHaveBeenCalled();
  timer.mockRestore();
});

test('a sleep ends at once when its signal aborts, before or during it', async () => {
  const stop = new AbortController();
  const sleep = systemSleeper.sleep(60_000, stop.signal);
  stop.abort();
  await sleep;
  await systemSleeper.sleep(60_000, stop.signal);
});

test('randomness has the asked size and range', () => {
  expect(systemRandom.bytes(16)).toHaveLength(16);
  const fraction = systemRandom.fraction();
  expect(fraction >= 0 && fraction < 1).toBe(true);
  expect(systemClock.now()).toBeGreaterThan(1_700_000_000_000);
});

// kills: system.ts: (taken += n) => taken + n
// kills: system.ts: pool.slice(taken => pool.subarray(taken
test('no bytes are drawn twice, and whoever writes into theirs changes nobody else’s', () => {
  const drawn = new Set<string>();
  for (let i = 0; i < 5000; i++) {
    const n = 8 + (i % 17);
    const bytes = systemRandom.bytes(n);
    drawn.add(Buffer.from(bytes.slice(0, 8)).toString('hex'));
    new Uint8Array(bytes.buffer).fill(0);
  }
  expect(drawn.size).toBe(5000);
});

// kills: system.ts: Math.min(ms, 2 ** 31 - 1) => ms
test('a sleep longer than a timer takes does not end at once', async () => {
  const stop = new AbortController();
  let ended = false;
  const sleep = systemSleeper.sleep(2 ** 33, stop.signal).then(() => (ended = true));
  // A timer that was too long would have ended before this one, which began later and is as short.
  await systemSleeper.sleep(2);
  expect(ended).toBe(false);
  stop.abort();
  await sleep;
});
