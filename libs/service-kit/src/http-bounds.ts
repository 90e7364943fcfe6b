/** What one process takes on at the same time (OPS-4). Past a bound the answer is a 503 with Retry-After. */
export interface HttpBounds {
  /**
   * Sum of the bodies of open requests, reserved before a body is read; apart from it, sum of the answers that their readers have not
   * taken. At least one largest body.
   */
  readonly bodiesBytesMax: number;
  /** Connections, and requests over all of them. A tenth more connections are answered 503, others are not accepted. */
  readonly connectionsMax: number;
  /** Requests that one connection may have open, if it does not wait for an answer before it asks again. */
  readonly pipelinedMax: number;
  /** The head of a request must have arrived after this time, all of it after the other: else 408. */
  readonly headMsMax: number;
  readonly requestMsMax: number;
  /** Bytes of a body that must come in a second, on average after the grace; 0: any pace will do. Else 408. */
  readonly bodyBytesPerSecMin: number;
  readonly bodyGraceMs: number;
  /** A body that came faster than it must may stall for what it has saved, and no longer than this. */
  readonly bodyStallMsMax: number;
  /** A reader that takes nothing of an answer for this long is cut off. */
  readonly stalledMsMax: number;
  /** How long the rest of a body that is refused is read and dropped before its connection closes. */
  readonly lingerMsMax: number;
}

export const HTTP_BOUNDS: HttpBounds = {
  bodiesBytesMax: 256 * 1024 * 1024,
  connectionsMax: 10_000,
  pipelinedMax: 64,
  headMsMax: 20_000,
  requestMsMax: 120_000,
  bodyBytesPerSecMin: 1024,
  bodyGraceMs: 10_000,
  bodyStallMsMax: 30_000,
  stalledMsMax: 120_000,
  lingerMsMax: 5000,
};

/** Above the idle time of usual load balancers (60 s), so that it is they who close a connection that they may just be about to use. */
export const IDLE_MS_MAX = 72_000;

export const RETRY_AFTER_MS = 1000;
