import { strict as assert } from 'node:assert';

const RECORD_BYTES = 200;

/** Records of several lanes, each with ids of its own that count up, so that order and completeness can be seen in the queue. */
export class Records {
  readonly #size: number;
  readonly #next: number[];

  constructor(lanes: number, size: number) {
    this.#size = size;
    this.#next = Array.from({ length: lanes }, () => 0);
  }

  get made(): number {
    return this.#next.reduce((total, n) => total + n, 0);
  }

  /** The next batch of a lane as NDJSON. */
  batch(lane: number): string {
    let text = '';
    for (let n = 0; n < this.#size; n++) text += `${this.one(lane)}\n`;
    return text;
  }

  one(lane: number): string {
    const n = this.#next[lane] as number;
    this.#next[lane] = n + 1;
    const head = `{"event_id":"lane-${lane}-${String(n).padStart(8, '0')}","note":"`;
    return `${head}${'v'.repeat(RECORD_BYTES - head.length - 2)}"}`;
  }

  /** Checks the ids as they stand in the queue: every lane's once and in order. Answers how many. */
  verify(ids: readonly string[]): number {
    const seen = this.#next.map(() => 0);
    for (const id of ids) {
      const [, lane, n] = /^lane-(\d+)-(\d+)$/.exec(id) as unknown as [string, string, string];
      assert.equal(Number(n), seen[Number(lane)]);
      seen[Number(lane)]!++;
    }
    assert.deepEqual(seen, this.#next);
    return ids.length;
  }
}
