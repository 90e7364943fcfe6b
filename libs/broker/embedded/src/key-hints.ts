/** Slots of an empty half; a power of two. */
const SLOTS_MIN = 1024;

/** Hash to ids, by open addressing in flat memory: 12 bytes a slot, at most three quarters of the slots taken. */
class Half {
  #hashes = new Uint32Array(SLOTS_MIN);
  #ids = new Float64Array(SLOTS_MIN);
  #count = 0;

  add(hash: number, id: number): void {
    if (++this.#count * 4 > this.#ids.length * 3) this.#grow();
    this.#put(hash, id);
  }

  /** The first answer that `look` gives for an id under this hash. */
  find<T>(hash: number, look: (id: number) => T | undefined): T | undefined {
    const mask = this.#ids.length - 1;
    for (let slot = hash & mask; this.#ids[slot] !== 0; slot = (slot + 1) & mask) {
      if (this.#hashes[slot] !== hash) continue;
      const found = look(this.#ids[slot]!);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #put(hash: number, id: number): void {
    const mask = this.#ids.length - 1;
    let slot = hash & mask;
    while (this.#ids[slot] !== 0) slot = (slot + 1) & mask;
    this.#hashes[slot] = hash;
    this.#ids[slot] = id;
  }

  #grow(): void {
    const [hashes, ids] = [this.#hashes, this.#ids];
    this.#hashes = new Uint32Array(ids.length * 2);
    this.#ids = new Float64Array(ids.length * 2);
    for (const [slot, id] of ids.entries()) if (id !== 0) this.#put(hashes[slot]!, id);
  }
}

/**
 * Where in the log of keys a key may stand. Only a hint: the row in the log is the truth, so an entry too many costs a look, and none
 * is ever taken out. Two halves take turns; one is thrown away as a whole when everything in it is older than the window.
 */
export class KeyHints {
  readonly #windowMs: number;
  #current = new Half();
  #previous = new Half();
  #currentSinceMs = -Infinity;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** `id` is above 0. */
  add(hash: number, id: number, storedAtMs: number): void {
    if (storedAtMs >= this.#currentSinceMs + this.#windowMs) {
      this.#previous = this.#current;
      this.#current = new Half();
      this.#currentSinceMs = storedAtMs;
    }
    this.#current.add(hash, id);
  }

  find<T>(hash: number, look: (id: number) => T | undefined): T | undefined {
    return this.#current.find(hash, look) ?? this.#previous.find(hash, look);
  }
}

/** 32 bits of a key in its queue: FNV-1a over the code units, then mixed so that the low bits depend on all of them. */
export function hashOf(queueId: number, key: string): number {
  let hash = 0x811c9dc5 ^ queueId;
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
