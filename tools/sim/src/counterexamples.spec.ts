import { counterexamples } from './cases/counterexamples.ts';
import { smallCases } from './cases/small-cases.ts';
import { runSmall } from './run-set.ts';

const named = counterexamples.map((one) => [one.id, one.wrong.about, one] as const);
/** Work is bounded by schedules. */
const HANG_MS = 600_000;
const BOUNDS = { schedulesMax: 20_000, stepsMax: 500 };

test.each(named)(
  'RLY-3: %s: the simulator finds how this rule breaks: %s',
  async (_id, _about, { wrong }) => {
    const { failures } = await runSmall(wrong, BOUNDS);
    expect(failures).toHaveLength(1);
  },
  HANG_MS,
);

test.each(named)(
  'RLY-3: %s: and not with the right rule',
  async (_id, _about, { right }) => {
    const { failures } = await runSmall(right, { schedulesMax: 80, stepsMax: 500 });
    expect(failures).toEqual([]);
  },
  HANG_MS,
);

/** Those that take a moment are tried in every schedule; of the others as many as fit, and all of them by `npm run test:long`. */
const WHOLE = /^(one-round|counter-lost|torn-impl)/;

test.each(smallCases.map((small) => [small.name, small.about, small] as const))(
  'RLY-3, RLY-4, RLY-5, RLY-6: the store holds in %s: %s',
  async (name, _about, small) => {
    const { failures, exhausted } = await runSmall(small, {
      schedulesMax: WHOLE.test(name) ? 2000 : 150,
      stepsMax: 500,
    });
    expect(failures).toEqual([]);
    if (WHOLE.test(name)) expect(exhausted).toBe(true);
  },
  HANG_MS,
);
