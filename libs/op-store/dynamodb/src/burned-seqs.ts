/** Inclusive. */
export interface SeqRange {
  readonly from: bigint;
  readonly to: bigint;
}

/** Of one range: two numbers of 8 bytes. */
const FIRST_PLACES = 8;

/** The burned seqs of one stream as ranges that neither meet nor touch: a run of any length takes 16 bytes. */
export class BurnedSeqs {
  /** from, to, from, to... ascending; behind the last range nothing counts. */
  #places = new BigInt64Array(FIRST_PLACES);
  #ranges = 0;

  get ranges(): number {
    return this.#ranges;
  }

  /** The parts of the given range that are not known to be burned, ascending. */
  unknown({ from, to }: SeqRange): SeqRange[] {
    const parts: SeqRange[] = [];
    let next = from;
    for (let i = this.#firstEndingAt(from); i < this.#ranges && this.#from(i) <= to; i++) {
      if (this.#from(i) > next) parts.push({ from: next, to: this.#from(i) - 1n });
      next = this.#to(i) + 1n;
    }
    if (next <= to) parts.push({ from: next, to });
    return parts;
  }

  /** The whole range around a burned seq; null when it is not known to be burned. */
  around(seq: bigint): SeqRange | null {
    const i = this.#firstEndingAt(seq);
    return i < this.#ranges && this.#from(i) <= seq ? { from: this.#from(i), to: this.#to(i) } : null;
  }

  add({ from, to }: SeqRange): void {
    // Ranges that the new one meets or touches become one with it.
    const first = this.#firstEndingAt(from - 1n);
    let end = first;
    while (end < this.#ranges && this.#from(end) <= to + 1n) end++;
    const merged =
      first === end ? { from, to } : { from: min(from, this.#from(first)), to: max(to, this.#to(end - 1)) };
    this.#replace(first, end, merged);
  }

  /** Forgets the lower half, which readers have passed long ago. */
  halve(): void {
    const kept = this.#ranges >>> 1;
    this.#places = this.#places.slice((this.#ranges - kept) * 2, this.#ranges * 2 + FIRST_PLACES);
    this.#ranges = kept;
  }

  #replace(first: number, end: number, { from, to }: SeqRange): void {
    const ranges = this.#ranges - (end - first) + 1;
    if (ranges * 2 > this.#places.length) {
      const larger = new BigInt64Array(this.#places.length * 2);
      larger.set(this.#places);
      this.#places = larger;
    }
    this.#places.copyWithin((first + 1) * 2, end * 2, this.#ranges * 2);
    this.#places[first * 2] = from;
    this.#places[first * 2 + 1] = to;
    this.#ranges = ranges;
  }

  /** Index of the first range that ends at the seq or above. */
  #firstEndingAt(seq: bigint): number {
    let [from, to] = [0, this.#ranges];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (this.#to(middle) >= seq) to = middle;
      else from = middle + 1;
    }
    return from;
  }

  #from(i: number): bigint {
    return this.#places[i * 2] as bigint;
  }

  #to(i: number): bigint {
    return this.#places[i * 2 + 1] as bigint;
  }
}

/** The burned seqs of many streams, in bounded memory: those of the stream not read for longest are forgotten first. */
export class BurnedMemory {
  readonly #streams = new Map<string, BurnedSeqs>();
  readonly #streamsMax: number;
  readonly #rangesMax: number;
  #ranges = 0;

  constructor(streamsMax: number, rangesMax: number) {
    this.#streamsMax = streamsMax;
    this.#rangesMax = rangesMax;
  }

  get ranges(): number {
    return this.#ranges;
  }

  /** To be looked at, not to be added to. */
  of(stream: string): Pick<BurnedSeqs, 'unknown' | 'around'> {
    const burned = this.#streams.get(stream);
    if (burned === undefined) return NOTHING;
    this.#streams.delete(stream);
    this.#streams.set(stream, burned);
    return burned;
  }

  add(stream: string, range: SeqRange): void {
    const burned = this.#streams.get(stream) ?? new BurnedSeqs();
    this.#streams.delete(stream);
    this.#streams.set(stream, burned);
    this.#ranges -= burned.ranges;
    burned.add(range);
    if (burned.ranges > this.#rangesMax) burned.halve();
    this.#ranges += burned.ranges;
    for (const [oldest, { ranges }] of this.#streams) {
      if (this.#ranges <= this.#rangesMax && this.#streams.size <= this.#streamsMax) break;
      this.#streams.delete(oldest);
      this.#ranges -= ranges;
    }
  }
}

const NOTHING = new BurnedSeqs();

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
