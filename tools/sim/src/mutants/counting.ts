import type { CancellationReason, TransactWriteItem } from '@aws-sdk/client-dynamodb';
import type { OpStore } from '@tidemark/libs-op-store-contract';
import { SeededChoices } from '../scheduler/choices.ts';
import { someOps } from '../some-op.ts';
import { World, type Wrap } from '../world.ts';
import { rounds } from './rewriting.ts';

/** What is taken away: by a client that rewrites, or by a store that forgets everything between its calls. */
export interface Mutation {
  readonly wrap?: Wrap;
  readonly forgets?: boolean;
}

export type Scenario = (open: (name: string) => Pick<OpStore, 'append' | 'read'>, world: World) => Promise<void>;

/** Harmless to what is stored and shown, and noticed by what it costs. */
export interface CountingMutant {
  readonly name: string;
  readonly scenario: Scenario;
  /** Of the store as it is, by operation. */
  readonly requests: Readonly<Record<string, number>>;
  readonly mutant: Mutation;
}

const STREAM = 's';

/** Runs the scenario where nothing goes wrong, and counts what arrives at the database. */
export async function requestsOf(
  scenario: Scenario,
  { wrap, forgets = false }: Mutation = {},
): Promise<Record<string, number>> {
  const world = new World({ choices: new SeededChoices(1), ordering: 'timed', promises: PROMISES });
  let end: string | undefined;
  const open = (name: string) => {
    const process = world.process(name);
    const store = () => world.store(process, { contentionRounds: 20 }, wrap);
    const kept = store();
    const current = () => (forgets ? store() : kept);
    return {
      append: (...args: Parameters<OpStore['append']>) => current().append(...args),
      read: (...args: Parameters<OpStore['read']>) => current().read(...args),
    };
  };
  void scenario(open, world).then(
    () => (end = 'ended'),
    (error: unknown) => (end = String(error)),
  );
  await world.scheduler.run(() => end !== undefined);
  return Object.fromEntries(world.dynamo.requests);
}

const PROMISES = { complete: true, dense: false, once: true, counterGrows: true, readableAtOnce: false };

const twoPushes: Scenario = async (open) => {
  const store = open('relay');
  await store.append(STREAM, someOps('a', 2));
  await store.append(STREAM, someOps('b', 2));
};

/** Seq 4 was taken by ADD and never written. */
const overAGap: Scenario = async (open, world) => {
  world.before(STREAM, [1n, 2n, 3n], 4n);
  const store = open('relay');
  await store.append(STREAM, someOps('a', 1));
  await store.append(STREAM, someOps('b', 1));
};

const overtaken: Scenario = async (open) => {
  const [one, other] = [open('relay 1'), open('relay 2')];
  await one.append(STREAM, someOps('a', 1));
  await other.append(STREAM, someOps('b', 1));
  await one.append(STREAM, someOps('c', 1));
};

/** The counter has moved on, and the op is stored: both say so in one cancellation. */
const overtakenByItself: Scenario = async (open) => {
  const [one, other] = [open('relay 1'), open('relay 2')];
  await one.append(STREAM, someOps('a', 1));
  await other.append(STREAM, someOps('b', 1));
  await one.append(STREAM, someOps('b', 1));
};

const readTwice: Scenario = async (open, world) => {
  world.before(STREAM, [1n, 5n], 5n);
  const store = open('relay');
  await store.read(STREAM, 0n, 100);
  await store.read(STREAM, 0n, 100);
};

export const countingMutants: readonly CountingMutant[] = [
  {
    name: 'check flipped without proof',
    scenario: twoPushes,
    requests: { Query: 2, TransactWriteItems: 2 },
    mutant: { wrap: rounds((items) => items.map(flipped)) },
  },
  {
    name: 'flip kept for another seq',
    scenario: overAGap,
    requests: { Query: 2, TransactWriteItems: 3 },
    mutant: { wrap: keptFlip() },
  },
  {
    name: 'claim outranked by the counter',
    scenario: overtakenByItself,
    requests: { Query: 5, TransactWriteItems: 3 },
    mutant: { wrap: rounds((items) => items, counterFirst) },
  },
  {
    name: 'hint ignored',
    scenario: overtaken,
    requests: { Query: 4, TransactWriteItems: 4 },
    mutant: {
      wrap: rounds(
        (items) => items,
        (reasons) => reasons.map(({ Code = 'None' }) => ({ Code })),
      ),
    },
  },
  {
    name: 'counter read for every push',
    scenario: twoPushes,
    requests: { Query: 2, TransactWriteItems: 2 },
    mutant: { forgets: true },
  },
  {
    name: 'holes judged again though remembered',
    scenario: readTwice,
    requests: { Query: 3, TransactGetItems: 1 },
    mutant: { forgets: true },
  },
];

function flipped(item: TransactWriteItem): TransactWriteItem {
  const { ConditionCheck: check } = item;
  if (check === undefined) return item;
  const ConditionExpression = PRESENT.test(check.ConditionExpression ?? '')
    ? 'attribute_not_exists(stream_id)'
    : 'attribute_exists(stream_id)';
  return { ConditionCheck: { ...check, ConditionExpression } };
}

const PRESENT = /^attribute_exists/;

/** Once a check was flipped, all later ones are. */
function keptFlip(): Wrap {
  let kept = false;
  return rounds((items) => {
    const check = items.find(({ ConditionCheck }) => ConditionCheck !== undefined)?.ConditionCheck;
    if (check === undefined) return items;
    if (!PRESENT.test(check.ConditionExpression ?? '')) kept = true;
    else if (kept) return items.map(flipped);
    return items;
  });
}

/** A failed counter hides the claims that failed beside it. */
function counterFirst(reasons: readonly CancellationReason[]): readonly CancellationReason[] {
  return reasons[0]?.Code === 'ConditionalCheckFailed'
    ? reasons.map((reason, i) => (i === 0 ? reason : { Code: 'None' }))
    : reasons;
}
