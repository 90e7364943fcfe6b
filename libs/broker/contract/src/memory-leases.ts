import type { Lease } from './broker.ts';

export interface Holding {
  readonly owner: string;
  readonly ttlMs: number;
  endsAtMs: number;
}

/** Leases of every broker that shares a state. A holding is compared by identity: whoever acquires makes a new one. */
export class MemoryLeases {
  protected readonly held = new Map<string, Holding>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  acquire(name: string, owner: string, ttlMs: number): Lease | null {
    if (!this.isFree(name, owner)) return null;
    const holding: Holding = { owner, ttlMs, endsAtMs: this.#nowMs() + ttlMs };
    this.held.set(name, holding);
    return {
      renew: async () => this.renew(name, holding),
      release: async () => this.release(name, holding),
    };
  }

  isFree(name: string, owner: string): boolean {
    const other = this.held.get(name);
    return other === undefined || other.owner === owner || !this.runs(other);
  }

  runs(holding: Holding): boolean {
    return this.#nowMs() < holding.endsAtMs;
  }

  isHeld(name: string, holding: Holding): boolean {
    return this.held.get(name) === holding && this.runs(holding);
  }

  renew(name: string, holding: Holding): boolean {
    if (!this.isHeld(name, holding)) return false;
    holding.endsAtMs = this.#nowMs() + holding.ttlMs;
    return true;
  }

  release(name: string, holding: Holding): void {
    if (this.isHeld(name, holding)) this.held.delete(name);
  }
}
