/**
 * One op as the relay carries it: opaque to the relay, interpreted by the fold. 64-bit integers are bigint.
 * Stored and served exactly as it came; the relay never rejects an op for an unknown shape.
 */
export interface Op {
  /** 0..65535, never interpreted. */
  readonly envelopeVersion: number;
  /** Idempotency key inside a stream; any string, also empty. */
  readonly opId: string;
  readonly lamport: bigint;
  readonly site: bigint;
  /** `task` when the wire leaves it out. */
  readonly domain: string;
  readonly targetKind: string;
  readonly targetId: string;
  readonly field: string;
  readonly opType: string;
  /** null and "" are different. */
  readonly value: string | null;
  readonly author: string;
  readonly wallClock: string;
  /** Unknown top-level fields as one compact JSON object text with keys in UTF-8 order; `{}` when there are none. */
  readonly extra: string;
}
