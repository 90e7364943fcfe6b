/** What a lease's holder says of it. */
export interface LeaseWord {
  readonly owner: string;
  readonly ttlMs: number;
  readonly released: boolean;
  /** Tells one word from another of the same owner. */
  readonly nonce: string;
}

/** Null for what nobody of ours wrote. */
export function parseWord(data: Uint8Array): LeaseWord | null {
  try {
    const { owner, ttlMs, released, nonce } = JSON.parse(Buffer.from(data).toString()) as Partial<LeaseWord>;
    const whole = typeof owner === 'string' && typeof ttlMs === 'number' && typeof nonce === 'string';
    return whole ? { owner, ttlMs, released: released === true, nonce } : null;
  } catch {
    return null;
  }
}
