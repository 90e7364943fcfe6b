import type { World } from '../world.ts';
import type { Relay } from './relay.ts';

export interface MishapRates {
  /** Mean time between crashes of some relay, and between jumps of some relay's wall clock; Infinity: never. */
  readonly crashMs: number;
  readonly clockJumpMs: number;
}

const DOWN_MS: readonly [number, number] = [0, 3000];
const JUMP_MS: readonly [number, number] = [-3_600_000, 3_600_000];

/** Crashes relays and moves their clocks, at any moment, until it is told to stop. */
export class Mishaps {
  readonly #world: World;
  readonly #relays: readonly Relay[];
  #stopped = false;

  constructor(world: World, relays: readonly Relay[], { crashMs, clockJumpMs }: MishapRates) {
    this.#world = world;
    this.#relays = relays;
    this.#again(crashMs, (relay) => this.#crash(relay));
    this.#again(clockJumpMs, (relay) => {
      world.dynamo.anomalies.clockJump++;
      relay.process.jumpWall(world.scheduler.between(JUMP_MS));
    });
  }

  stop(): void {
    this.#stopped = true;
  }

  #again(meanMs: number, happens: (relay: Relay) => void): void {
    if (meanMs === Infinity) return;
    const { scheduler } = this.#world;
    scheduler.wake(scheduler.between([0, 2 * meanMs]), 'mishap', () => {
      if (this.#stopped) return;
      happens(this.#relays[scheduler.choices.pick(this.#relays.length)] as Relay);
      this.#again(meanMs, happens);
    });
  }

  #crash(relay: Relay): void {
    const { scheduler, dynamo } = this.#world;
    if (!relay.process.alive) return;
    dynamo.anomalies.crash++;
    scheduler.trace.add(scheduler.nowMs, `${relay.name} crashes`);
    relay.crash();
    scheduler.wake(scheduler.between(DOWN_MS), `${relay.name} starts`, () => relay.restart());
  }
}
