import { SeededChoices } from './choices.ts';
import { explore } from './explore.ts';
import { Scheduler } from './scheduler.ts';
import { SimProcess } from './sim-process.ts';

test('events happen at their times, those of one time in their order, and cancelled ones never', async () => {
  const scheduler = new Scheduler(new SeededChoices(1), 'timed');
  const happened: string[] = [];
  const add = (ms: number, name: string) =>
    scheduler.happen(ms, name, () => happened.push(`${name} ${scheduler.nowMs}`));
  for (const [ms, name] of [
    [5, 'c'],
    [1, 'a'],
    [1, 'b'],
    [9, 'e'],
  ] as const)
    add(ms, name);
  add(7, 'd').cancelled = true;
  await scheduler.run();
  expect(happened).toEqual(['a 1', 'b 1', 'c 5', 'e 9']);
});

test('no sleep of a process that crashed ends, and an aborted sleep ends at once', async () => {
  const scheduler = new Scheduler(new SeededChoices(1), 'timed');
  const [crashed, alive] = [new SimProcess('a', scheduler, 1), new SimProcess('b', scheduler, 2)];
  const ended: string[] = [];
  const abort = new AbortController();
  void crashed.sleep(10).then(() => ended.push('crashed'));
  void alive.sleep(20).then(() => ended.push('alive'));
  void alive.sleep(1_000_000, abort.signal).then(() => ended.push('aborted'));
  scheduler.wake(5, 'crash', () => {
    crashed.crash();
    abort.abort();
  });
  await scheduler.run();
  expect(ended).toEqual(['aborted', 'alive']);
  expect(scheduler.nowMs).toBe(20);
});

/** Two processes that sleep twice each: a state is told by how far each has come. */
function twoSleepers(bad: (order: readonly string[]) => boolean) {
  const seen: string[] = [];
  const result = explore(
    (choices) => {
      const scheduler = new Scheduler(choices, 'free');
      const processes = ['a', 'b'].map((name) => new SimProcess(name, scheduler, 1));
      const order: string[] = [];
      return {
        scheduler,
        begin: async () => {
          for (const process of processes)
            void (async () => {
              for (let i = 0; i < 2; i++) {
                await process.sleep(1);
                order.push(process.name);
              }
            })();
        },
        fingerprint: () => processes.map(({ history }) => history).join(),
        violations: () => (bad(order) ? [`bad: ${order.join('')}`] : []),
        finish: () => void seen.push(order.join('')),
      };
    },
    { schedulesMax: 100, stepsMax: 100 },
  );
  return { seen, result };
}

test('the explorer meets every state once, and leaves a schedule where it meets one again', async () => {
  const { result, seen } = twoSleepers(() => false);
  expect(await result).toMatchObject({ exhausted: true, found: null, states: 8 });
  expect(seen).toEqual(['abab']);
});

test('the explorer finds the one order that is wrong, and the choices that lead to it', async () => {
  const { found } = await twoSleepers((order) => order.join('') === 'bba').result;
  expect(found).toMatchObject({ violation: 'bad: bba', path: [1, 1] });
});
