/** Randomness as the code below the apps may see it; seeded in tests and in the simulator. */
export interface Random {
  /** `n` random bytes. */
  bytes(n: number): Uint8Array;
  /** Uniform in [0, 1). */
  fraction(): number;
}
