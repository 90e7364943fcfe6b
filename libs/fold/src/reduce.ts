import type { SequencedOp } from '@tidemark/libs-op-store-contract';
import type { ViewChange } from '@tidemark/libs-views-contract';

/**
 * What becomes of one op. `folded`: these changes, in order. `not_folded`: no reducer declares this shape; the op stays in the log, and
 * a raised revision can fold it later. `refused`: declared, but its content cannot be folded; it is parked. The mark passes an op in
 * all three cases.
 */
export type Reduced =
  | { readonly kind: 'folded'; readonly changes: readonly ViewChange[] }
  | { readonly kind: 'not_folded' }
  | { readonly kind: 'refused'; readonly reason: string };

/** How one domain's ops become changes: pure, the same answer for the same op, whatever came before. */
export interface Reducer {
  readonly domain: string;
  /** Raised whenever the answer for some op changes. */
  readonly revision: number;
  reduce(sequenced: SequencedOp): Reduced;
}

/** An op with a lamport above this is kept in the log and never folded: no clock could follow it. */
export const FOLDED_LAMPORT_MAX = 2n ** 62n;

const NOT_FOLDED: Reduced = { kind: 'not_folded' };

/** The reducers of one worker, one per domain. */
export class Reducers {
  readonly #byDomain: ReadonlyMap<string, Reducer>;

  constructor(reducers: readonly Reducer[]) {
    this.#byDomain = new Map(reducers.map((reducer) => [reducer.domain, reducer]));
    if (this.#byDomain.size !== reducers.length) throw new Error('two reducers declare the same domain');
  }

  /** Never throws: a reducer that does has met an op that it cannot fold. */
  reduce(sequenced: SequencedOp): Reduced {
    const { domain, lamport } = sequenced.op;
    const reducer = this.#byDomain.get(domain);
    if (!reducer || lamport > FOLDED_LAMPORT_MAX) return NOT_FOLDED;
    try {
      return reducer.reduce(sequenced);
    } catch (thrown) {
      // The message of a foreign error may quote the op's content, which has no place in a log.
      return {
        kind: 'refused',
        reason: `the reducer failed: ${thrown instanceof Error ? thrown.name : typeof thrown}`,
      };
    }
  }
}
