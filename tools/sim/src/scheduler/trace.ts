/** What happened, as a hash; and the last events as text when they are asked for. */
export class Trace {
  readonly #keep: number;
  readonly #lines: string[] = [];
  #high = 0x811c9dc5;
  #low = 0x9e3779b9;

  constructor(keep = 0) {
    this.#keep = keep;
  }

  add(atMs: number, label: string): void {
    this.#mix(`${atMs} ${label}`);
    if (this.#keep === 0) return;
    this.#lines.push(`${atMs.toFixed(1).padStart(10)}  ${label}`);
    if (this.#lines.length > 2 * this.#keep) this.#lines.splice(0, this.#lines.length - this.#keep);
  }

  /** Whether anybody will look at the events. */
  get keeps(): boolean {
    return this.#keep > 0;
  }

  get hash(): string {
    const part = (n: number) => (n >>> 0).toString(16).padStart(8, '0');
    return part(this.#high) + part(this.#low);
  }

  lines(): readonly string[] {
    return this.#lines.slice(-this.#keep);
  }

  /** Two 32-bit lanes of FNV-1a with different starts. */
  #mix(text: string): void {
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      this.#high = Math.imul(this.#high ^ unit, 0x01000193);
      this.#low = Math.imul(this.#low ^ (unit + i), 0x01000193);
    }
  }
}
