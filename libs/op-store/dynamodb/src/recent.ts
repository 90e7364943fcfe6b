/** The values of the names used last, at most `max` of them: which is forgotten when there are more is the one not used for longest. */
export class Recent<V> {
  readonly #values = new Map<string, V>();
  readonly #max: number;
  readonly #make: () => V;

  constructor(max: number, make: () => V) {
    this.#max = max;
    this.#make = make;
  }

  /** The value of the name; a new one when there is none. */
  of(name: string): V {
    const value = this.#values.get(name) ?? this.#make();
    this.#values.delete(name);
    this.#values.set(name, value);
    for (const oldest of this.#values.keys()) {
      if (this.#values.size <= this.#max) break;
      this.#values.delete(oldest);
    }
    return value;
  }
}
