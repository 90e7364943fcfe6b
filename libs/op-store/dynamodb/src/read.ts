import { backoffMs, type Random, type Sleeper } from '@tidemark/libs-kernel';
import type { ReadPage, SequencedOp } from '@tidemark/libs-op-store-contract';
import { opTextBytes } from '@tidemark/libs-wire';
import { type GapParts, judgeGaps } from './gap-check.ts';
import { isCorrupt } from './corrupt.ts';
import { type Item, toSequencedOp } from './op-item.ts';

export interface ReadParts extends GapParts {
  readonly sleeper: Sleeper;
  readonly random: Random;
  readonly patienceMs: number;
}

/** A read that has judged holes for so long answers what it has (RLY-9). */
export const JUDGING_MS_MAX = 2000;

const HOLE_BACKOFF = { baseMs: 10, ceilingMs: 100 };

/**
 * Ops above `after`, up to the first hole that is not proved burned: at one that may still be filled the read waits for a while, and then
 * ends its page there; at one whose counter stands behind, at once. It ends before an op that
 * cannot be read, too: fault `corrupt` only when that is the first of the page. `next` may rest on a burned seq. Contiguity is counted from the cursor, through all of the table's own pages.
 */
export async function read(
  parts: ReadParts,
  stream: string,
  after: bigint,
  limit: number,
  bytesMax: number,
): Promise<ReadPage> {
  const { table, clock, sleeper, random, patienceMs } = parts;
  const page = new Page(after > 0n ? after : 0n, limit, bytesMax);
  let judgingEndsAtMs: number | undefined;
  const endsAtMs = (): number => (judgingEndsAtMs ??= clock.monotonic() + JUDGING_MS_MAX);
  let patienceEndsAtMs: number | undefined;
  for (let waits = 0; page.missing > 0;) {
    const { items, isLast } = await table.opsAbove(stream, page.through, page.missing);
    const ops = page.fitting(readable(items, page.ops.length > 0));
    const shown = ops.map(({ seq, op }) => ({ seq, bytes: opTextBytes(op) }));
    const { through, end } = await judgeGaps(parts, stream, page.through, shown, endsAtMs);
    page.add(ops, through);
    if (end === 'all' && !isLast && ops.length === items.length) continue;
    if (end !== 'hole') break;
    const leftMs = (patienceEndsAtMs ??= clock.monotonic() + patienceMs) - clock.monotonic();
    if (leftMs <= 0) break;
    await sleeper.sleep(Math.min(leftMs, backoffMs(waits++, HOLE_BACKOFF, random)));
  }
  return { ops: page.ops, next: page.through > after && page.through > 0n ? page.through : after };
}

/** The ops up to the first that cannot be read. That one is a fault where nothing stands before it. */
function readable(items: readonly Item[], isBehindOthers: boolean): readonly SequencedOp[] {
  const ops: SequencedOp[] = [];
  for (const item of items) {
    try {
      ops.push(toSequencedOp(item));
    } catch (thrown) {
      if (isCorrupt(thrown) && (isBehindOthers || ops.length > 0)) break;
      throw thrown;
    }
  }
  return ops;
}

class Page {
  readonly ops: SequencedOp[] = [];
  /** Seq of the last op, or burned seq, that the page passes. */
  through: bigint;
  readonly #limit: number;
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(after: bigint, limit: number, bytesMax: number) {
    this.through = after;
    this.#limit = limit;
    this.#bytesMax = bytesMax;
  }

  get missing(): number {
    return this.#limit - this.ops.length;
  }

  /** As many of the first as the page takes; the first of all always. */
  fitting(ops: readonly SequencedOp[]): readonly SequencedOp[] {
    let bytes = this.#bytes;
    let count = 0;
    for (const { op } of ops) {
      bytes += opTextBytes(op);
      if (bytes > this.#bytesMax && this.ops.length + count > 0) break;
      count++;
    }
    return ops.slice(0, count);
  }

  add(ops: readonly SequencedOp[], through: bigint): void {
    for (const one of ops) {
      if (one.seq > through) break;
      this.ops.push(one);
      this.#bytes += opTextBytes(one.op);
    }
    this.through = through;
  }
}
