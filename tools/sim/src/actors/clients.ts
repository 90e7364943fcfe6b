import { Fault } from '@tidemark/libs-kernel';
import type { AppendOutcome } from '@tidemark/libs-op-store-contract';
import type { Op } from '@tidemark/libs-wire';
import type { SimProcess } from '../scheduler/sim-process.ts';
import type { World } from '../world.ts';
import type { Relay } from './relay.ts';

/** A client's pause after a refusal, and how long it waits for an answer before it pushes again elsewhere. */
const RETRY_MS: readonly [number, number] = [50, 500];
const ANSWER_MS = 20_000;
/** Between two pulls that bring nothing. */
const POLL_MS: readonly [number, number] = [5, 100];

export interface Traffic {
  readonly stream: string;
  /** Among which a client picks one for each call. */
  readonly relays: readonly Relay[];
  readonly pauseMs: readonly [number, number];
  /** Pushes go through the relay's writer, which joins them, or to the store itself. */
  readonly joined: boolean;
  /** Whether a client pushes again what was refused. */
  readonly repeats: boolean;
}

/** Pushes its batches in order, each until it is answered. */
export class Pusher {
  done = false;
  readonly name: string;
  readonly #world: World;
  readonly #process: SimProcess;
  readonly #traffic: Traffic;

  constructor(name: string, world: World, traffic: Traffic, batches: readonly (readonly Op[])[]) {
    this.name = name;
    this.#world = world;
    this.#process = world.process(name);
    this.#traffic = traffic;
    void this.#run(batches);
  }

  async #run(batches: readonly (readonly Op[])[]): Promise<void> {
    const { scheduler } = this.#world;
    for (const batch of batches) {
      await this.#process.sleep(scheduler.between(this.#traffic.pauseMs));
      while (!(await this.#push(batch)) && this.#traffic.repeats)
        await this.#process.sleep(scheduler.between(RETRY_MS));
    }
    this.done = true;
  }

  async #push(batch: readonly Op[]): Promise<boolean> {
    const { relays, stream, joined } = this.#traffic;
    const relay = relays[this.#world.scheduler.choices.pick(relays.length)] as Relay;
    const gone = new AbortController();
    const pushing = (joined ? relay.push(stream, batch) : relay.append(stream, batch)).catch((refusal: unknown) => {
      const isCertain = refusal instanceof Fault && refusal.outcome === 'not-done';
      if (isCertain && !this.#traffic.repeats) this.#world.history.refused(stream, batch);
      return null;
    });
    const outcomes: readonly AppendOutcome[] | null | void = await Promise.race([
      pushing,
      this.#process.sleep(ANSWER_MS, gone.signal),
    ]);
    gone.abort();
    if (outcomes == null) return false;
    this.#world.history.answered(stream, batch, outcomes);
    return true;
  }
}

/** Follows the stream from its start, at any of the relays, until it is told to stop and has reached the end. */
export class Puller {
  done = false;
  cursor = 0n;
  readonly name: string;
  /** Set when no more will be pushed: the seq at which the log ends. */
  end: bigint | null = null;
  readonly #world: World;
  readonly #process: SimProcess;
  readonly #traffic: Traffic;
  readonly #limit: number;

  constructor(name: string, world: World, traffic: Traffic, limit: number) {
    this.name = name;
    this.#world = world;
    this.#process = world.process(name);
    this.#traffic = traffic;
    this.#limit = limit;
    void this.#run();
  }

  async #run(): Promise<void> {
    const { scheduler } = this.#world;
    for (;;) {
      const passed = await this.#pull();
      if (this.end !== null && this.cursor >= this.end) break;
      if (passed) continue;
      await this.#process.sleep(scheduler.between(POLL_MS));
    }
    this.done = true;
  }

  async #pull(): Promise<boolean> {
    const { relays, stream } = this.#traffic;
    const { history, scheduler } = this.#world;
    const relay = relays[scheduler.choices.pick(relays.length)] as Relay;
    const start = history.readBegins(this.name, stream, this.cursor);
    const page = await relay.call((store) => store.read(stream, this.cursor, this.#limit)).catch(() => null);
    if (page === null) return false;
    history.readEnds(start, page);
    const passed = page.next > this.cursor;
    this.cursor = page.next;
    return passed;
  }
}
