const encoder = new TextEncoder();

/** Text as UTF-8 that grows at its end. Many short texts one by one take less time than one that was put together from them. */
export class Utf8Bytes {
  #bytes: Buffer;
  #length = 0;

  /** @param size how many bytes are expected; more find room too */
  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafe(size);
  }

  /** Text without a lone surrogate. */
  add(text: string): void {
    const { read, written } = encoder.encodeInto(text, this.#bytes.subarray(this.#length));
    this.#length += written;
    if (read === text.length) return;
    this.#grow(text.length - read);
    this.add(text.slice(read));
  }

  /** What was added, in a buffer of its own size. */
  taken(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.#length));
  }

  #grow(units: number): void {
    const grown = Buffer.allocUnsafe(2 * this.#bytes.length + 3 * units);
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}
