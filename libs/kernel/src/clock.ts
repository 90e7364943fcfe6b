/** Time as the code below the apps may see it. The simulator implements both interfaces with virtual time. */
export interface Clock {
  /** Wall clock: milliseconds since 1970 UTC. May jump, also backwards; use it only for what is stored or shown. */
  now(): number;
  /** Milliseconds since an arbitrary start; never goes back. Leases and deadlines inside one process use it. */
  monotonic(): number;
}

export interface Sleeper {
  /** Resolves after `ms` milliseconds, or at once when `signal` aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
