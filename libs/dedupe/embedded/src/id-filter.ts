const BITS_PER_ID = 24;
/** 512 bits: all bits of an id are in one cache line, which is what a look at a large filter costs. */
const BLOCK_WORDS = 16;
const PROBES = 8;
const SEGMENT_IDS_MIN = 1 << 16;
/** Three bytes an id: 22 million ids. What comes on top makes the filter less certain, and no larger. */
const BYTES_MAX = 64 << 20;

/**
 * A set of ids that says yes by mistake (less than once in a thousand while it is within its bytes), and never no: a Bloom filter in
 * blocks, which grows by a segment of twice the size whenever the last one is full.
 */
export class IdFilter {
  readonly #segments: Segment[] = [];
  #bytes = 0;

  /** For about so many ids; more are fine. */
  constructor(ids = 0) {
    this.#grow(ids);
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(id: string): void {
    const last = this.#segments.at(-1)!;
    if (last.isFull && this.#bytes < BYTES_MAX) this.#grow(2 * last.idsMax);
    this.#segments.at(-1)!.add(hash(id, SEED_A), hash(id, SEED_B));
  }

  mayHave(id: string): boolean {
    const [a, b] = [hash(id, SEED_A), hash(id, SEED_B)];
    return this.#segments.some((segment) => segment.mayHave(a, b));
  }

  #grow(ids: number): void {
    const idsLeft = ((BYTES_MAX - this.#bytes) * 8) / BITS_PER_ID;
    const segment = new Segment(Math.min(Math.max(ids, SEGMENT_IDS_MIN), idsLeft));
    this.#segments.push(segment);
    this.#bytes += segment.bytes;
  }
}

class Segment {
  readonly idsMax: number;
  readonly #words: Uint32Array;
  readonly #blocks: number;
  #added = 0;

  constructor(ids: number) {
    this.#blocks = Math.ceil((ids * BITS_PER_ID) / (32 * BLOCK_WORDS));
    this.#words = new Uint32Array(this.#blocks * BLOCK_WORDS);
    this.idsMax = ids;
  }

  get bytes(): number {
    return this.#words.byteLength;
  }

  get isFull(): boolean {
    return this.#added >= this.idsMax;
  }

  add(a: number, b: number): void {
    this.#added++;
    const block = (a % this.#blocks) * BLOCK_WORDS;
    for (let i = 0; i < PROBES; i++) {
      const bit = probe(b, i);
      this.#words[block + (bit >>> 5)]! |= 1 << (bit & 31);
    }
  }

  mayHave(a: number, b: number): boolean {
    const block = (a % this.#blocks) * BLOCK_WORDS;
    for (let i = 0; i < PROBES; i++) {
      const bit = probe(b, i);
      if ((this.#words[block + (bit >>> 5)]! & (1 << (bit & 31))) === 0) return false;
    }
    return true;
  }
}

/** The i-th bit of an id among the 512 of its block. Start, step and the step's growth are nine bits of the hash each. */
function probe(b: number, i: number): number {
  return (b + i * ((b >>> 9) | 1) + ((i * (i - 1)) >> 1) * ((b >>> 18) & 511)) & 511;
}

const { imul } = Math;
const SEED_A = 0x9e3779b9;
const SEED_B = 0x85ebca6b;

/** 32 bits: FNV-1a over the characters of an ASCII text, then the finish of MurmurHash3, which spreads them over the word. */
function hash(text: string, seed: number): number {
  let h = seed;
  for (let i = 0; i < text.length; i++) h = imul(h ^ text.charCodeAt(i), 0x01000193) ^ (h >>> 15);
  h = imul(h ^ (h >>> 16), 0x85ebca6b);
  h = imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
