import { ManualTime } from '@tidemark/libs-kernel/testing';
import type { BrokerHarness } from './conformance/harness.ts';
import { MemoryBroker, MemoryQueues, soundParts } from './memory-broker.ts';

export interface MemoryParts extends Partial<typeof soundParts> {
  readonly Broker?: typeof MemoryBroker;
}

/** A harness of the model, or of a mutant of it. */
export function memoryHarness({ Broker = MemoryBroker, ...changed }: MemoryParts = {}): BrokerHarness {
  const time = new ManualTime();
  const shared = new MemoryQueues(time, { ...soundParts, ...changed });
  return {
    open: async () => new Broker({ clock: time, sleeper: time, duplicateWindowMs: 5000 }, shared),
    pass: (ms) => passManualTime(time, ms),
  };
}

const STEP_MS = 10;
/** How many promises that wait for one another are let run in a step. */
const TURNS = 50;

/** Moves the time in small steps, so that whoever sleeps, looks and sleeps again does so as often as in real time. */
export async function passManualTime(time: ManualTime, ms: number): Promise<void> {
  const endsAtMs = time.monotonic() + ms;
  do {
    for (let turn = 0; turn < TURNS; turn++) await undefined;
    time.advance(Math.min(STEP_MS, endsAtMs - time.monotonic()));
  } while (time.monotonic() < endsAtMs);
  for (let turn = 0; turn < TURNS; turn++) await undefined;
}
