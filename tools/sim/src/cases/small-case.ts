import type { OpStore, SequencedOp } from '@tidemark/libs-op-store-contract';
import { type Promises, allPromises } from '../checkers/history.ts';
import { itemOp } from '../checkers/stored-op.ts';
import { type Liberties, noLiberties } from '../dynamo/sim-dynamo.ts';
import { type Strength, calm } from '../dynamo/weather.ts';
import type { Choices } from '../scheduler/choices.ts';
import type { SmallRun } from '../scheduler/explore.ts';
import { World, type Wrap } from '../world.ts';

/** A case that is small enough to try every schedule of. */
export interface SmallCase {
  readonly name: string;
  /** What it is about, in one line. */
  readonly about: string;
  readonly strength: Strength;
  readonly promises?: Partial<Promises>;
  readonly liberties?: Partial<Liberties>;
  /** Sets the scene in one order: what comes of it, every schedule begins with. */
  readonly scene?: (world: World) => Promise<readonly OpStore[]>;
  /** Starts the actors, with the stores of the scene; they run when the scheduler does. */
  readonly start: (world: World, stores: readonly OpStore[]) => void;
}

export const STREAM = 's';

export function smallRun(small: SmallCase, choices: Choices, traceLines = 0, wrap?: Wrap): SmallRun {
  const world = new World({
    choices,
    ordering: 'free',
    weather: { ...calm, strength: small.strength },
    liberties: { ...noLiberties(), ...small.liberties },
    promises: { ...allPromises, ...small.promises },
    traceLines,
    ...(wrap === undefined ? {} : { wrap }),
  });
  return {
    begin: async () => {
      const { scene } = small;
      small.start(world, scene === undefined ? [] : await world.scheduler.inOrder(() => scene(world)));
    },
    scheduler: world.scheduler,
    fingerprint: () => world.fingerprint(),
    violations: () => world.history.violations,
    finish: () => world.history.finish(STREAM, everything(world)),
  };
}

/** The log as it stands when nothing is in flight. */
function everything({ dynamo: { database } }: World): SequencedOp[] {
  return database.keys(STREAM, 1n).flatMap((seq) => {
    const item = database.visible({ stream: STREAM, seq });
    return item === null ? [] : [{ seq, op: itemOp(item) }];
  });
}
