import { asFault, compareUtf8, Fault, PULL_PAGE_BYTES_MAX } from '@tidemark/libs-kernel';
import { type Op, opTextBytes } from '@tidemark/libs-wire';
import type {
  AppendOutcome,
  AppendWatch,
  ChangePage,
  IndexedOpStore,
  ReadPage,
  SeenOp,
  SequencedOp,
  StreamHead,
  StreamState,
} from './op-store.ts';

interface MemoryStream {
  /** In seq order. */
  readonly ops: SequencedOp[];
  readonly seqs: Map<string, bigint>;
}

/** What handles share, as processes share a database. */
export class MemoryOpLog {
  readonly streams = new Map<string, MemoryStream>();
  /** The stream of every op in the order of storing; a position counts its entries. */
  readonly journal: string[] = [];
  /** Heads of erased streams. */
  readonly erased = new Map<string, bigint>();
  /** Floors of truncated streams. */
  readonly floors = new Map<string, bigint>();
  readonly watchers = new Set<(stream: string) => void>();
}

/** The op store's behaviour without a disk. Each instance is one handle; handles on one log see the same ops. */
export class MemoryOpStore implements IndexedOpStore {
  protected readonly log: MemoryOpLog;
  #closed = false;

  constructor(log = new MemoryOpLog()) {
    this.log = log;
  }

  refusal(_op: Op): Fault | null {
    return null;
  }

  async append(stream: string, ops: readonly Op[]): Promise<readonly AppendOutcome[]> {
    this.#assertOpen();
    return ops.map((op) => {
      const existing = this.storedAt(stream, op.opId);
      if (existing !== undefined) return { kind: 'existing', seq: existing };
      const seq = this.nextSeq(stream);
      this.place(stream, seq, op);
      return { kind: 'stored', seq };
    });
  }

  async read(stream: string, after: bigint, limit: number, bytesMax = PULL_PAGE_BYTES_MAX): Promise<ReadPage> {
    this.#assertOpen();
    const stored = this.log.streams.get(stream)?.ops ?? [];
    const page = fitting(stored, after, limit, bytesMax);
    if (page[0] !== undefined && page[0].seq > after + 1n) this.assertAboveFloor(stream, after);
    for (const { seq, op } of page) assertObject(op.extra, stream, seq);
    return { ops: page, next: page.at(-1)?.seq ?? after };
  }

  async readAhead(
    stream: string,
    after: bigint,
    limit: number,
    bytesMax = PULL_PAGE_BYTES_MAX,
  ): Promise<readonly SeenOp[]> {
    this.#assertOpen();
    const stored = this.log.streams.get(stream)?.ops ?? [];
    return fitting(stored, after, limit, bytesMax).map((sequenced) => seen(stream, sequenced));
  }

  async burnedThrough(stream: string, after: bigint): Promise<bigint> {
    this.#assertOpen();
    const stored = this.log.streams.get(stream)?.ops ?? [];
    const above = stored[firstAbove(stored, after)];
    const through = above === undefined ? this.headOf(stream) : above.seq - 1n;
    if (through <= (after > 0n ? after : 0n)) return after;
    this.assertAboveFloor(stream, after);
    return through;
  }

  async floor(stream: string): Promise<bigint> {
    this.#assertOpen();
    return this.log.floors.get(stream) ?? 0n;
  }

  async seqOf(stream: string, opId: string): Promise<bigint | null> {
    this.#assertOpen();
    return this.log.streams.get(stream)?.seqs.get(opId) ?? null;
  }

  async head(stream: string): Promise<bigint> {
    this.#assertOpen();
    return this.headOf(stream);
  }

  async describe(stream: string): Promise<StreamState> {
    this.#assertOpen();
    const head = this.headOf(stream);
    return { head, burned: head - BigInt(this.log.streams.get(stream)?.ops.length ?? 0) };
  }

  async erase(stream: string): Promise<bigint> {
    this.#assertOpen();
    const erased = this.log.streams.get(stream)?.ops.length ?? 0;
    if (erased > 0) this.log.erased.set(stream, this.headOf(stream));
    this.log.streams.delete(stream);
    return BigInt(erased);
  }

  async streams(after: string | null, limit: number): Promise<readonly StreamHead[]> {
    this.#assertOpen();
    return [...this.log.streams.keys()]
      .filter((stream) => after === null || compareUtf8(stream, after) > 0)
      .sort(compareUtf8)
      .slice(0, Math.max(limit, 0))
      .map((stream) => ({ stream, head: this.headOf(stream) }));
  }

  async position(): Promise<string> {
    this.#assertOpen();
    return String(this.log.journal.length);
  }

  async changes(position: string, limit: number): Promise<ChangePage> {
    this.#assertOpen();
    const changed = new Set<string>();
    let at = Number(position);
    for (; at < this.log.journal.length; at++) {
      const stream = this.log.journal[at] as string;
      if (!changed.has(stream) && changed.size >= limit) break;
      changed.add(stream);
    }
    return {
      changed: [...changed].map((stream) => ({ stream, head: this.headOf(stream) })),
      position: String(at),
    };
  }

  async watch(onAppend: (stream: string) => void): Promise<AppendWatch | null> {
    this.#assertOpen();
    const watcher = (stream: string): void => onAppend(stream);
    this.log.watchers.add(watcher);
    return { close: async () => void this.log.watchers.delete(watcher) };
  }

  async ping(): Promise<void> {
    this.#assertOpen();
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  /** Puts an op at a seq past the port, as an older writer or a damaged disk would have left it. */
  plant(stream: string, seq: bigint, op: Op): void {
    this.place(stream, seq, op);
  }

  /** Removes the ops up to the seq, as a truncation does. */
  truncate(stream: string, through: bigint): void {
    const held = this.log.streams.get(stream);
    for (const { op } of held?.ops.splice(0, firstAbove(held.ops, through)) ?? []) held?.seqs.delete(op.opId);
    this.log.floors.set(stream, through);
  }

  protected assertAboveFloor(stream: string, after: bigint): void {
    const floor = this.log.floors.get(stream) ?? 0n;
    if (floor === 0n || after >= floor) return;
    throw new Fault('conflict', `stream ${JSON.stringify(stream)}: its ops up to ${floor} were removed`);
  }

  protected nextSeq(stream: string): bigint {
    return this.headOf(stream) + 1n;
  }

  protected headOf(stream: string): bigint {
    return this.log.streams.get(stream)?.ops.at(-1)?.seq ?? this.log.erased.get(stream) ?? 0n;
  }

  protected storedAt(stream: string, opId: string): bigint | undefined {
    return this.log.streams.get(stream)?.seqs.get(opId);
  }

  protected place(stream: string, seq: bigint, op: Op): void {
    const held = this.log.streams.get(stream) ?? { ops: [], seqs: new Map<string, bigint>() };
    this.log.streams.set(stream, held);
    held.ops.splice(firstAbove(held.ops, seq), 0, { seq, op });
    held.seqs.set(op.opId, seq);
    this.log.journal.push(stream);
    for (const watcher of this.log.watchers) queueMicrotask(() => watcher(stream));
  }

  #assertOpen(): void {
    if (this.#closed) throw new Fault('unavailable', 'the op store is closed');
  }
}

function fitting(stored: readonly SequencedOp[], after: bigint, limit: number, bytesMax: number): SequencedOp[] {
  const page: SequencedOp[] = [];
  let bytes = 0;
  for (let i = firstAbove(stored, after); i < stored.length && page.length < limit; i++) {
    const { seq, op } = stored[i] as SequencedOp;
    bytes += opTextBytes(op);
    if (page.length > 0 && bytes > bytesMax) break;
    page.push({ seq, op });
  }
  return page;
}

function seen(stream: string, { seq, op }: SequencedOp): SeenOp {
  try {
    assertObject(op.extra, stream, seq);
    return { seq, op };
  } catch (thrown) {
    return { seq, op: null, problem: asFault(thrown).message };
  }
}

/** Index of the first op with a seq above `after`. */
function firstAbove(ops: readonly SequencedOp[], after: bigint): number {
  let from = 0;
  let to = ops.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((ops[middle] as SequencedOp).seq > after) to = middle;
    else from = middle + 1;
  }
  return from;
}

function assertObject(extra: string, stream: string, seq: bigint): void {
  try {
    const value: unknown = JSON.parse(extra);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return;
  } catch {
    // not JSON: below
  }
  throw new Fault('corrupt', `stream ${JSON.stringify(stream)}, seq ${seq}: the stored extra is no JSON object`);
}
