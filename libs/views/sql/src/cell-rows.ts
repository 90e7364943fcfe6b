import type { Document, DocumentPage, Field, FieldShape, Member } from '@tidemark/libs-views-contract';

/** Integers as the driver gives them: bigint from SQLite, text from Postgres. */
type Int = bigint | string;

/** A present member as both databases give it, in the order of id. */
export interface CellRow {
  readonly id: string;
  readonly field: string;
  readonly member: string;
  readonly shape: FieldShape;
  readonly rank: Int;
  readonly lamport: Int;
  readonly site: Int;
  readonly seq: Int;
  readonly value: string;
}

interface GrowingField extends Field {
  readonly members: Map<string, Member>;
}

interface GrowingDocument extends Document {
  readonly fields: Map<string, GrowingField>;
}

export interface PageBounds {
  readonly kind: string;
  readonly limit: number;
  readonly bytesMax: number;
}

/** Takes rows until the page is full. */
export class PageReader {
  readonly #bounds: PageBounds;
  readonly #documents: GrowingDocument[] = [];
  #bytes = 0;

  constructor(bounds: PageBounds) {
    this.#bounds = bounds;
  }

  /** False: the row begins a document behind the page, and nothing after it is wanted. */
  take(row: CellRow): boolean {
    let document = this.#documents.at(-1);
    if (document?.id !== row.id) {
      if (this.#isFull()) return false;
      document = { kind: this.#bounds.kind, id: row.id, fields: new Map() };
      this.#documents.push(document);
    }
    addMember(document!, row);
    this.#bytes += Buffer.byteLength(row.value);
    return true;
  }

  /** The page, after `take` said false or the rows ended. */
  page(isLast: boolean): DocumentPage {
    return { documents: this.#documents, next: isLast ? null : (this.#documents.at(-1)?.id ?? null) };
  }

  #isFull(): boolean {
    const { limit, bytesMax } = this.#bounds;
    return this.#documents.length >= limit || (this.#documents.length > 0 && this.#bytes >= bytesMax);
  }
}

export function toDocument(kind: string, id: string, rows: readonly CellRow[]): Document | null {
  if (rows.length === 0) return null;
  const document: GrowingDocument = { kind, id, fields: new Map() };
  for (const row of rows) addMember(document, row);
  return document;
}

function addMember({ fields }: GrowingDocument, { field, member, shape, value, ...row }: CellRow): void {
  let known = fields.get(field);
  if (!known) {
    known = { shape, members: new Map() };
    fields.set(field, known);
  }
  const { rank, lamport, site, seq } = row;
  const version = { rank: BigInt(rank), lamport: BigInt(lamport), site: BigInt(site), seq: BigInt(seq) };
  known.members.set(member, { value, version });
}
