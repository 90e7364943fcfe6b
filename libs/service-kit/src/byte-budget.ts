/** Bytes that may be held at the same time. What is taken is given back once. */
export class ByteBudget {
  readonly bytesMax: number;
  #held = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  get held(): number {
    return this.#held;
  }

  get full(): boolean {
    return this.#held >= this.bytesMax;
  }

  /** Takes the bytes when there is room for all of them. */
  reserve(bytes: number): boolean {
    if (this.#held + bytes > this.bytesMax) return false;
    this.hold(bytes);
    return true;
  }

  /** Takes bytes that exist already, also above the bound: whoever comes next finds the budget full. */
  hold(bytes: number): void {
    this.#held += bytes;
  }

  release(bytes: number): void {
    this.hold(-bytes);
  }
}
