import type { SequencedOp } from '@tidemark/libs-op-store-contract';
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
  /** Sets the scene and starts the actors; they run when the scheduler does. */
  readonly start: (world: World) => void;
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
  small.start(world);
  return {
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
