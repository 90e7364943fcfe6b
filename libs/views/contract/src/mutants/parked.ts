import { MemoryViews } from '../memory-views.ts';
import { FIRST_EPOCH, type ParkedOp } from '../views.ts';
import type { Mutants } from './opener.ts';

class NamesUnreadableOps extends MemoryViews {
  override async park(stream: string, epoch: number, op: ParkedOp): Promise<void> {
    await super.park(stream, epoch, { ...op, opId: op.opId ?? '' });
  }
}

class SortsSeqsAsTexts extends MemoryViews {
  override async parked(stream: string, epoch: number, after: bigint, limit: number) {
    const ops = await super.parked(stream, epoch, after, limit);
    return ops.toSorted((a, b) => (String(a.seq) < String(b.seq) ? -1 : 1));
  }
}

class RepeatsTheParked extends MemoryViews {
  override parked(stream: string, epoch: number, after: bigint, limit: number) {
    return super.parked(stream, epoch, after === 0n ? after : after - 1n, limit);
  }
}

class IgnoresTheParkedLimit extends MemoryViews {
  override parked(stream: string, epoch: number, after: bigint) {
    return super.parked(stream, epoch, after, Infinity);
  }
}

class KeepsTheFirstParked extends MemoryViews {
  override async park(stream: string, epoch: number, op: ParkedOp): Promise<void> {
    if (!this.parkedOps(stream, epoch).has(op.seq)) await super.park(stream, epoch, op);
  }
}

class UnparksEverything extends MemoryViews {
  override async unpark(stream: string, epoch: number, seq: bigint): Promise<void> {
    if (this.parkedOps(stream, epoch).has(seq)) this.parkedOps(stream, epoch).clear();
  }
}

class ParksForEveryEpoch extends MemoryViews {
  protected override parkedOps(stream: string, epoch: number): Map<bigint, ParkedOp> {
    const isBare = this.store.rows.size === 0;
    return super.parkedOps(stream, isBare ? FIRST_EPOCH : epoch);
  }
}

export const parkedMutants: Mutants = {
  namesUnreadableOps: (store) => new NamesUnreadableOps(store),
  sortsSeqsAsTexts: (store) => new SortsSeqsAsTexts(store),
  repeatsTheParked: (store) => new RepeatsTheParked(store),
  ignoresTheParkedLimit: (store) => new IgnoresTheParkedLimit(store),
  keepsTheFirstParked: (store) => new KeepsTheFirstParked(store),
  unparksEverything: (store) => new UnparksEverything(store),
  parksForEveryEpoch: (store) => new ParksForEveryEpoch(store),
};
