import { compareUtf8 } from '@tidemark/libs-kernel';
import { MemoryViews } from '../memory-views.ts';
import type { Document, DocumentPage, ViewChange } from '../views.ts';
import type { Mutants } from './opener.ts';

class RewritesValues extends MemoryViews {
  protected override write(stream: string, epoch: number, change: ViewChange): void {
    const isPadded = change.effect === 'register' && change.value.startsWith(' ');
    super.write(stream, epoch, isPadded ? { ...change, value: JSON.stringify(JSON.parse(change.value)) } : change);
  }
}

class EndsIdsAtNul extends MemoryViews {
  protected override storedId(id: string): string {
    return id.split('\0', 1)[0]!;
  }
}

class EscapesOneWay extends MemoryViews {
  protected override storedId(id: string): string {
    return id.replaceAll('#', '%23');
  }

  override async document(stream: string, kind: string, id: string): Promise<Document | null> {
    const document = await super.document(stream, kind, this.storedId(id));
    return document && { ...document, id };
  }
}

class JoinsKeys extends MemoryViews {
  protected override rowsKey(stream: string, epoch: number, kind: string): string {
    return kind === 'events' ? super.rowsKey(stream, epoch, kind) : `${epoch}#${stream}#${kind}`;
  }
}

class OrdersByUtf16 extends MemoryViews {
  protected override compareIds(a: string, b: string): number {
    return a < b ? -1 : a > b ? 1 : 0;
  }
}

class RepeatsAfter extends MemoryViews {
  override async documents(stream: string, kind: string, after: string | null, limit: number, bytesMax?: number) {
    const page = await super.documents(stream, kind, after, limit, bytesMax);
    const repeated = after === 'b' && limit > 2 ? await this.document(stream, kind, after) : null;
    return repeated ? { ...page, documents: [repeated, ...page.documents] } : page;
  }
}

class StartsAboveTheEmptyId extends MemoryViews {
  protected override isAfter(id: string, after: string | null): boolean {
    return compareUtf8(id, after ?? '') > 0;
  }
}

class PromisesAnEmptyPage extends MemoryViews {
  override async documents(
    stream: string,
    kind: string,
    after: string | null,
    limit: number,
    bytesMax?: number,
  ): Promise<DocumentPage> {
    const page = await super.documents(stream, kind, after, limit, bytesMax);
    return page.documents.length === limit ? { ...page, next: page.documents.at(-1)!.id } : page;
  }
}

class CountsFields extends MemoryViews {
  protected override isFull(documents: readonly Document[], limit: number, bytes: number, bytesMax: number): boolean {
    const fields = documents.reduce((sum, document) => sum + document.fields.size, 0);
    return fields >= limit || super.isFull(documents, limit, bytes, bytesMax);
  }
}

class IgnoresBytesMax extends MemoryViews {
  protected override isFull(documents: readonly Document[], limit: number): boolean {
    return documents.length >= limit;
  }
}

export const documentMutants: Mutants = {
  rewritesValues: (store) => new RewritesValues(store),
  endsIdsAtNul: (store) => new EndsIdsAtNul(store),
  escapesOneWay: (store) => new EscapesOneWay(store),
  joinsKeys: (store) => new JoinsKeys(store),
  ordersByUtf16: (store) => new OrdersByUtf16(store),
  repeatsAfter: (store) => new RepeatsAfter(store),
  startsAboveTheEmptyId: (store) => new StartsAboveTheEmptyId(store),
  promisesAnEmptyPage: (store) => new PromisesAnEmptyPage(store),
  countsFields: (store) => new CountsFields(store),
  ignoresBytesMax: (store) => new IgnoresBytesMax(store),
};
