import type { Clock, Random } from '@tidemark/libs-kernel';

/** Which of the ids that one reserve is deciding are committed; never rejects. */
export type Verdicts = Promise<ReadonlySet<string>>;

export interface PendingClaim {
  readonly token: string;
  /** On the monotonic clock; without end while undecided, so that a slow read costs nobody a part of the lease. */
  untilMs: number;
  /** While the reserve that took the id still reads whether it is committed. */
  verdicts: Verdicts | undefined;
}

/** How many entries each new claim inspects for having lapsed. Two keep pace: the hand goes round faster than the map grows. */
const INSPECTED_PER_CLAIM = 2;

/**
 * The claims of this process, by stored key. Lapsed ones are forgotten by a hand that moves on with every new claim, so memory stays
 * in proportion to the live claims and no call ever walks the whole map.
 */
export class PendingClaims {
  readonly #claims = new Map<string, PendingClaim>();
  readonly #clock: Clock;
  /** Makes tokens of an earlier opening worthless. */
  readonly #salt: string;
  #taken = 0;
  #hand = this.#claims.entries();

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#salt = Buffer.from(random.bytes(8)).toString('hex');
  }

  get size(): number {
    return this.#claims.size;
  }

  /** The claim that holds the key now, decided or not. */
  find(stored: string): PendingClaim | undefined {
    const claim = this.#claims.get(stored);
    return claim && this.#lives(claim) ? claim : undefined;
  }

  /** Takes a key that `find` did not find, undecided; answers the token. */
  take(stored: string, verdicts: Verdicts): string {
    this.#forgetLapsed();
    const token = `${this.#salt}-${(++this.#taken).toString(36)}`;
    this.#claims.set(stored, { token, untilMs: Infinity, verdicts });
    return token;
  }

  /** The taken key is a claim from now on. */
  settle(stored: string, leaseMs: number): void {
    const claim = this.#claims.get(stored)!;
    claim.untilMs = this.#clock.monotonic() + leaseMs;
    claim.verdicts = undefined;
  }

  /** Only the owner's (DDP-4). */
  drop(stored: string, token: string): void {
    if (this.#claims.get(stored)?.token === token) this.#claims.delete(stored);
  }

  #forgetLapsed(): void {
    for (let i = 0; i < INSPECTED_PER_CLAIM; i++) {
      const { value: entry } = this.#hand.next();
      if (entry === undefined) this.#hand = this.#claims.entries();
      else if (!this.#lives(entry[1])) this.#claims.delete(entry[0]);
    }
  }

  #lives(claim: PendingClaim): boolean {
    return this.#clock.monotonic() < claim.untilMs;
  }
}
