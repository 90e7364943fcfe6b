import { compareUtf8 } from '@tidemark/libs-kernel';
import {
  DOCUMENTS_PAGE_BYTES_MAX,
  type Document,
  type DocumentPage,
  type Field,
  type FieldShape,
  FIRST_EPOCH,
  type Member,
  type ParkedOp,
  type RegisterChange,
  type RegisterVersion,
  type Revisions,
  type StoredMark,
  type StreamMark,
  type ViewChange,
  type Views,
} from './views.ts';
import { NOTHING_FOLDED, type WatermarkState } from './watermark-state.ts';
import { assertStream, assertWellFormed } from './well-formed.ts';

/** null: removed, for ever. */
export type MemoryMembers = Map<string, Member | null>;

export interface MemoryField {
  readonly shape: FieldShape;
  readonly members: MemoryMembers;
}

/** Fields of one kind of one stream and epoch, by document id. */
export type MemoryRows = Map<string, Map<string, MemoryField>>;

export interface MemoryEpochs {
  readonly shown: StoredMark | null;
  readonly build: StoredMark | null;
  /** The highest that was ever used. */
  readonly last: number;
}

/** What several open MemoryViews share, as several workers share a database. */
export class MemoryViewsStore {
  /** By [stream, epoch, kind] as JSON. */
  readonly rows = new Map<string, MemoryRows>();
  readonly epochs = new Map<string, MemoryEpochs>();
  /** By [stream, epoch] as JSON, then by seq. */
  readonly parked = new Map<string, Map<bigint, ParkedOp>>();
}

const NO_EPOCHS: MemoryEpochs = { shown: null, build: null, last: 0 };

/** The contract in memory. The protected methods are the decisions that the mutants break one by one. */
export class MemoryViews implements Views {
  protected readonly store: MemoryViewsStore;

  constructor(store = new MemoryViewsStore()) {
    this.store = store;
  }

  async mark(stream: string): Promise<StoredMark | null> {
    return this.epochs(stream).shown;
  }

  async build(stream: string): Promise<StoredMark | null> {
    return this.epochs(stream).build;
  }

  async apply(stream: string, epoch: number, changes: readonly ViewChange[]): Promise<void> {
    this.assertStorable(stream, changes);
    for (const change of changes) this.write(stream, epoch, change);
  }

  async saveMark(
    stream: string,
    epoch: number,
    watermark: WatermarkState,
    expectedVersion: number,
    revisions: Revisions,
  ): Promise<'saved' | 'conflict'> {
    assertStream(stream);
    const epochs = this.epochs(stream);
    const mark: StoredMark = { watermark, epoch, version: expectedVersion + 1, revisions };
    const isFirst = epochs.shown === null && epoch === FIRST_EPOCH && expectedVersion === 0;
    if (isFirst || isStored(epochs.shown, epoch, expectedVersion)) {
      this.store.epochs.set(stream, { ...epochs, shown: mark, last: Math.max(epochs.last, epoch) });
      return 'saved';
    }
    if (!isStored(epochs.build, epoch, expectedVersion)) return 'conflict';
    this.store.epochs.set(stream, { ...epochs, build: mark });
    return 'saved';
  }

  async startBuild(stream: string, revisions: Revisions): Promise<StoredMark | 'conflict'> {
    assertStream(stream);
    const epochs = this.epochs(stream);
    if (epochs.build !== null) return 'conflict';
    const epoch = this.nextEpoch(epochs);
    const build = { watermark: NOTHING_FOLDED, epoch, version: 1, revisions };
    this.store.epochs.set(stream, { ...epochs, build, last: epoch });
    return build;
  }

  async switchTo(stream: string, epoch: number): Promise<'switched' | 'conflict'> {
    const epochs = this.epochs(stream);
    if (epochs.shown?.epoch === epoch) return 'switched';
    if (epochs.build?.epoch !== epoch || !this.mayShow(epochs.build, epochs.shown)) return 'conflict';
    this.store.epochs.set(stream, { ...epochs, shown: epochs.build, build: null });
    return 'switched';
  }

  async abandonBuild(stream: string, epoch: number): Promise<void> {
    const epochs = this.epochs(stream);
    if (epochs.build?.epoch === epoch) this.store.epochs.set(stream, { ...epochs, build: null });
  }

  async dropEpochs(stream: string, limit: number): Promise<number> {
    const epochs = this.epochs(stream);
    let dropped = 0;
    for (const [key, rows] of [...this.store.rows, ...this.store.parked]) {
      const [ofStream, epoch] = JSON.parse(key) as [string, number];
      if (ofStream !== stream || !this.isLeft(epochs, epoch)) continue;
      for (const row of [...rows.keys()].slice(0, limit - dropped)) {
        (rows as Map<unknown, unknown>).delete(row);
        dropped++;
      }
    }
    return dropped;
  }

  async park(stream: string, epoch: number, op: ParkedOp): Promise<void> {
    this.parkedOps(stream, epoch).set(op.seq, op);
  }

  async parked(stream: string, epoch: number, after: bigint, limit: number): Promise<readonly ParkedOp[]> {
    const above = [...this.parkedOps(stream, epoch).values()].filter(({ seq }) => seq > after);
    return above.sort((a, b) => (a.seq < b.seq ? -1 : 1)).slice(0, limit);
  }

  async unpark(stream: string, epoch: number, seq: bigint): Promise<void> {
    this.parkedOps(stream, epoch).delete(seq);
  }

  async marks(after: string | null, limit: number): Promise<readonly StreamMark[]> {
    const streams = [...this.store.epochs.keys()].filter((stream) => after === null || compareUtf8(stream, after) > 0);
    const shown = streams.sort(compareUtf8).flatMap((stream) => {
      const mark = this.epochs(stream).shown;
      return mark ? [{ stream, mark }] : [];
    });
    return shown.slice(0, limit);
  }

  async document(stream: string, kind: string, id: string): Promise<Document | null> {
    const epoch = this.shownEpoch(stream);
    return epoch === null ? null : this.documentOf(stream, epoch, kind, id);
  }

  async documents(
    stream: string,
    kind: string,
    after: string | null,
    limit: number,
    bytesMax = DOCUMENTS_PAGE_BYTES_MAX,
  ): Promise<DocumentPage> {
    const epoch = this.shownEpoch(stream);
    const rows: MemoryRows = epoch === null ? new Map() : this.rows(stream, epoch, kind);
    const ids = [...rows.keys()].filter((id) => this.isAfter(id, after)).sort((a, b) => this.compareIds(a, b));
    const documents: Document[] = [];
    let bytes = 0;
    for (const id of ids) {
      const document = this.documentOf(stream, epoch!, kind, id);
      if (document === null) continue;
      if (this.isFull(documents, limit, bytes, bytesMax)) return { documents, next: documents.at(-1)?.id ?? null };
      documents.push(document);
      bytes += valueBytes(document);
    }
    return { documents, next: null };
  }

  async ping(): Promise<void> {}

  async close(): Promise<void> {}

  protected assertStorable(stream: string, changes: readonly ViewChange[]): void {
    assertWellFormed(stream, changes);
  }

  protected write(stream: string, epoch: number, change: ViewChange): void {
    const rows = this.rows(stream, epoch, change.kind);
    const id = this.storedId(change.id);
    const fields = rows.get(id) ?? new Map<string, MemoryField>();
    const { members } = fields.get(change.field) ?? { members: new Map() };
    rows.set(id, fields.set(change.field, { shape: change.shape, members }));
    if (change.effect === 'remove') this.remove(members, change.member);
    else if (this.wins(change, members.get(change.member)))
      members.set(change.member, { value: change.value, version: change.version });
  }

  protected remove(members: MemoryMembers, member: string): void {
    members.set(member, null);
  }

  /** Whether the write changes a cell that holds this. */
  protected wins({ version, rule }: RegisterChange, stored: Member | null | undefined): boolean {
    return stored === undefined || (stored !== null && this.beats(version, stored.version, rule));
  }

  protected beats(a: RegisterVersion, b: RegisterVersion, rule: RegisterChange['rule']): boolean {
    if (a.rank !== b.rank) return a.rank > b.rank === (rule === 'higher');
    if (a.lamport !== b.lamport) return a.lamport > b.lamport === (rule === 'higher');
    if (a.site !== b.site) return a.site > b.site === (rule === 'higher');
    return a.seq < b.seq;
  }

  protected nextEpoch({ last }: MemoryEpochs): number {
    return Math.max(last, FIRST_EPOCH) + 1;
  }

  protected mayShow(build: StoredMark, shown: StoredMark | null): boolean {
    return build.watermark.foldedThrough >= (shown?.watermark.foldedThrough ?? 0n);
  }

  /** While nothing is shown the first save of FIRST_EPOCH may still come. */
  protected isLeft({ shown, build, last }: MemoryEpochs, epoch: number): boolean {
    return shown !== null && epoch <= last && epoch !== shown.epoch && epoch !== build?.epoch;
  }

  /** The epoch that readers see; null when nothing is shown. */
  protected shownEpoch(stream: string): number | null {
    return this.epochs(stream).shown?.epoch ?? null;
  }

  protected epochs(stream: string): MemoryEpochs {
    return this.store.epochs.get(stream) ?? NO_EPOCHS;
  }

  protected documentOf(stream: string, epoch: number, kind: string, id: string): Document | null {
    const fields = new Map<string, Field>();
    for (const [name, { shape, members }] of this.rows(stream, epoch, kind).get(id) ?? []) {
      const present = new Map([...members].filter((entry): entry is [string, Member] => entry[1] !== null));
      if (present.size > 0) fields.set(name, { shape, members: present });
    }
    return fields.size > 0 ? { kind, id, fields } : null;
  }

  protected rows(stream: string, epoch: number, kind: string): MemoryRows {
    return entryOf<MemoryRows>(this.store.rows, this.rowsKey(stream, epoch, kind));
  }

  protected parkedOps(stream: string, epoch: number): Map<bigint, ParkedOp> {
    return entryOf<Map<bigint, ParkedOp>>(this.store.parked, JSON.stringify([stream, epoch]));
  }

  protected rowsKey(stream: string, epoch: number, kind: string): string {
    return JSON.stringify([stream, epoch, kind]);
  }

  protected storedId(id: string): string {
    return id;
  }

  protected compareIds(a: string, b: string): number {
    return compareUtf8(a, b);
  }

  protected isAfter(id: string, after: string | null): boolean {
    return after === null || this.compareIds(id, after) > 0;
  }

  protected isFull(documents: readonly Document[], limit: number, bytes: number, bytesMax: number): boolean {
    return documents.length >= limit || (documents.length > 0 && bytes >= bytesMax);
  }
}

function isStored(mark: StoredMark | null, epoch: number, version: number): boolean {
  return mark?.epoch === epoch && mark.version === version;
}

function valueBytes({ fields }: Document): number {
  let bytes = 0;
  for (const { members } of fields.values()) {
    for (const { value } of members.values()) bytes += Buffer.byteLength(value);
  }
  return bytes;
}

function entryOf<Entry extends Map<unknown, unknown>>(entries: Map<string, Entry>, key: string): Entry {
  const entry = entries.get(key) ?? (new Map() as unknown as Entry);
  entries.set(key, entry);
  return entry;
}
