import { compareUtf8 } from '@tidemark/libs-kernel';
import {
  DOCUMENTS_PAGE_BYTES_MAX,
  type Document,
  type DocumentPage,
  type Field,
  type RegisterVersion,
  type StoredMark,
  type ViewChange,
  type Views,
  type WatermarkState,
} from './views.ts';

/** Fields of one kind of one stream and epoch, by document id. */
type Rows = Map<string, Map<string, Field>>;

/** What several open MemoryViews share, as several workers share a database. */
export class MemoryViewsStore {
  readonly rows = new Map<string, Rows>();
  readonly marks = new Map<string, StoredMark>();
}

/** The contract in memory. The protected methods are the decisions that the mutants break one by one. */
export class MemoryViews implements Views {
  protected readonly store: MemoryViewsStore;

  constructor(store = new MemoryViewsStore()) {
    this.store = store;
  }

  async mark(stream: string): Promise<StoredMark | null> {
    return this.store.marks.get(stream) ?? null;
  }

  async apply(stream: string, epoch: number, changes: readonly ViewChange[]): Promise<void> {
    for (const change of changes) this.write(stream, epoch, change);
  }

  async saveMark(
    stream: string,
    epoch: number,
    watermark: WatermarkState,
    expectedVersion: number,
  ): Promise<'saved' | 'conflict'> {
    const stored = this.store.marks.get(stream)?.version ?? 0;
    if (stored !== expectedVersion) return 'conflict';
    this.store.marks.set(stream, { watermark, epoch, version: expectedVersion + 1 });
    return 'saved';
  }

  async document(stream: string, kind: string, id: string): Promise<Document | null> {
    const epoch = this.shownEpoch(stream);
    const fields = epoch === null ? undefined : this.rows(stream, epoch, kind).get(id);
    return fields ? { kind, id, fields: new Map(fields) } : null;
  }

  async documents(
    stream: string,
    kind: string,
    after: string | null,
    limit: number,
    bytesMax = DOCUMENTS_PAGE_BYTES_MAX,
  ): Promise<DocumentPage> {
    const epoch = this.shownEpoch(stream);
    const rows: Rows = epoch === null ? new Map() : this.rows(stream, epoch, kind);
    const ids = [...rows.keys()].filter((id) => this.isAfter(id, after)).sort((a, b) => this.compareIds(a, b));
    const documents: Document[] = [];
    let bytes = 0;
    for (const id of ids) {
      if (this.isFull(documents, limit, bytes, bytesMax)) return { documents, next: documents.at(-1)?.id ?? null };
      const fields = new Map(rows.get(id));
      documents.push({ kind, id, fields });
      for (const field of fields.values()) bytes += Buffer.byteLength(field.value);
    }
    return { documents, next: null };
  }

  async ping(): Promise<void> {}

  async close(): Promise<void> {}

  protected write(stream: string, epoch: number, change: ViewChange): void {
    const rows = this.rows(stream, epoch, change.kind);
    const id = this.storedId(change.id);
    const fields = rows.get(id) ?? new Map<string, Field>();
    const stored = fields.get(change.field);
    if (stored && !this.beats(change.version, stored.version, change.rule)) return;
    rows.set(id, fields.set(change.field, { value: change.value, version: change.version }));
  }

  protected beats(a: RegisterVersion, b: RegisterVersion, rule: ViewChange['rule']): boolean {
    if (a.rank !== b.rank) return a.rank > b.rank === (rule === 'higher');
    if (a.lamport !== b.lamport) return a.lamport > b.lamport === (rule === 'higher');
    if (a.site !== b.site) return a.site > b.site === (rule === 'higher');
    return a.seq < b.seq;
  }

  /** The epoch that readers see; null when the stream has no mark. */
  protected shownEpoch(stream: string): number | null {
    return this.store.marks.get(stream)?.epoch ?? null;
  }

  protected rows(stream: string, epoch: number, kind: string): Rows {
    const key = this.rowsKey(stream, epoch, kind);
    const rows = this.store.rows.get(key) ?? (new Map() as Rows);
    this.store.rows.set(key, rows);
    return rows;
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
