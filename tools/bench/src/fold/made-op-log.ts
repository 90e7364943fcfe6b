import { compareUtf8 } from '@tidemark/libs-kernel';
import type { SequencedOp } from '@tidemark/libs-op-store-contract';
import { MemoryOpStore, anOp } from '@tidemark/libs-op-store-contract/testing';

const IDS = 100;

/** A log whose ops are made when they are read, so that a million of them take no memory: events that write 100 documents a stream again and again. */
export class MadeOpLog extends MemoryOpStore {
  readonly names: readonly string[];
  readonly ops: number;
  readonly #opsPerStream: number;
  readonly #made = new Map<number, SequencedOp>();

  constructor(streams: number, opsPerStream: number) {
    super();
    this.names = Array.from({ length: streams }, (_, i) => `0.events.${i}`);
    this.#opsPerStream = opsPerStream;
    this.ops = streams * opsPerStream;
    // The same ones for each stream: making them is not what is measured.
    for (let n = 1; n <= opsPerStream; n++) this.#made.set(n, { seq: BigInt(n), op: madeOp(n) });
  }

  override async read(_stream: string, after: bigint, limit: number) {
    const ops = this.#from(Number(after) + 1, limit);
    return { ops, next: ops.at(-1)?.seq ?? after };
  }

  override async head(): Promise<bigint> {
    return BigInt(this.#opsPerStream);
  }

  all(_stream: string): readonly SequencedOp[] {
    return this.#from(1, this.#opsPerStream);
  }

  /** Ids in UTF-8 order, each with the text of its last event. */
  lastValues(_stream: string): [string, string][] {
    const last = new Map<string, string>();
    for (const { op } of this.#made.values()) last.set(op.targetId, op.value as string);
    return [...last].sort(([a], [b]) => compareUtf8(a, b));
  }

  #from(first: number, limit: number): SequencedOp[] {
    const count = Math.max(0, Math.min(limit, this.#opsPerStream - first + 1));
    return Array.from({ length: count }, (_, i) => this.#made.get(first + i) as SequencedOp);
  }
}

export function madeOp(n: number) {
  return anOp({
    opId: `01JB2Q6T5V${String(n).padStart(16, '0')}`,
    domain: 'event',
    targetKind: 'events',
    targetId: `id-${String(n % IDS).padStart(6, '0')}`,
    field: 'body',
    opType: 'set',
    value: JSON.stringify({ event_id: `id-${n % IDS}`, n, text: 'v'.repeat(60) }),
    lamport: BigInt(n),
    site: 0n,
  });
}
