/** Throws when a fact that the code relies on does not hold. A failed assertion is a defect of ours, never a user's input. */
export function assert(fact: unknown, what: string): asserts fact {
  if (!fact) throw new Error(`assertion failed: ${what}`);
}

/** The end of an exhaustive switch: the compiler proves that no value arrives here. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${String(value)}`);
}
