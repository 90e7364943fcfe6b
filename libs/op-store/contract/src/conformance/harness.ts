import type { Op } from '@tidemark/libs-wire';
import type { IndexedOpStore, OpStore } from '../op-store.ts';
import type { PrefixRegistry } from '../prefix-registry.ts';
import type { PresenceBoard } from '../presence-board.ts';

/** An empty op log of its own for one case. */
export interface OpStoreHarness {
  /** Another handle on the same data each time, as another process would open. */
  open(): Promise<OpStore>;
  /** Puts an op at a seq past the port, as an older writer or a damaged disk would have left it. */
  plant(stream: string, seq: bigint, op: Op): Promise<void>;
}

/** An empty op log whose handles say which streams changed. */
export interface IndexedOpStoreHarness extends OpStoreHarness {
  open(): Promise<IndexedOpStore>;
}

/** An empty registry of its own for one case. */
export interface PrefixRegistryHarness {
  /** Another handle on the same claims each time, as another process would open. */
  open(): Promise<PrefixRegistry>;
}

/** An empty board of its own for one case. */
export interface PresenceBoardHarness {
  /** Another handle on the same rows each time, as another process would open. */
  open(): Promise<PresenceBoard>;
}
