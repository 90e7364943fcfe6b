import type { Clock } from '@tidemark/libs-kernel';

interface Sighting {
  readonly nonce: string;
  readonly atMs: number;
}

/** Words of a lease that are remembered: those that lost a race are heard too. */
const WORDS_MAX = 16;
const LEASES_MAX = 10_000;

/** Since when this process knows of a word. What is forgotten counts as new: a lease is taken over later, never earlier. */
export class LeaseSightings {
  readonly #clock: Clock;
  readonly #byLease = new Map<string, readonly Sighting[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  saw(lease: string, nonce: string): void {
    const known = this.#byLease.get(lease) ?? [];
    if (known.some((one) => one.nonce === nonce)) return;
    this.#byLease.delete(lease);
    this.#byLease.set(lease, [...known.slice(1 - WORDS_MAX), { nonce, atMs: this.#clock.monotonic() }]);
    const oldest = this.#byLease.size > LEASES_MAX ? this.#byLease.keys().next().value : undefined;
    if (oldest !== undefined) this.#byLease.delete(oldest);
  }

  ageMs(lease: string, nonce: string): number {
    this.saw(lease, nonce);
    const seen = this.#byLease.get(lease)?.find((one) => one.nonce === nonce);
    return seen ? this.#clock.monotonic() - seen.atMs : 0;
  }
}
