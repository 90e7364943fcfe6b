import type { Outcome } from '@tidemark/libs-kernel';

export interface ServiceErrorDetail {
  /** null: no answer came. */
  readonly status: number | null;
  readonly outcome: Outcome;
  readonly retryAfterMs?: number | undefined;
  readonly head?: bigint | undefined;
  readonly cause?: unknown;
}

/**
 * A call that did not succeed, after all its attempts. `outcome` tells about the work, over every attempt: `not-done` when each of them
 * certainly did nothing, `unknown` when one may have been carried out. The message is for people.
 */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly status: number | null;
  readonly outcome: Outcome;
  readonly retryAfterMs: number | undefined;
  /** Of a 409: the stream's head, which the cursor that was asked from is above. Begin anew from a cursor up to it. */
  readonly head: bigint | undefined;

  constructor(message: string, detail: ServiceErrorDetail) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.status = detail.status;
    this.outcome = detail.outcome;
    this.retryAfterMs = detail.retryAfterMs;
    this.head = detail.head;
  }

  /** Whether the same request may succeed later: no answer, 408, 429, or a fault of the service. */
  get transient(): boolean {
    return this.status === null || this.status === 408 || this.status === 429 || this.status >= 500;
  }

  /** The same error, when attempts before it had `earlier` as their outcome. */
  after(earlier: Outcome): ServiceError {
    const outcome = earlier === 'not-done' ? this.outcome : earlier;
    return outcome === this.outcome ? this : new ServiceError(this.message, { ...this, outcome, cause: this.cause });
  }
}
