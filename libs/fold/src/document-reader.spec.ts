import { MemoryViews } from '@tidemark/libs-views-contract/testing';
import * as fc from 'fast-check';
import { listDocuments, readDocument } from './document-reader.ts';
import { eventReducer } from './event-reducer.ts';
import { Reducers } from './reduce.ts';
import { anEvent } from './testing/rig.ts';
import { emptyWatermark } from './watermark.ts';

const STREAM = '0.events';

async function viewsOf(...ops: ReturnType<typeof anEvent>[]): Promise<MemoryViews> {
  const views = new MemoryViews();
  const reducers = new Reducers([eventReducer]);
  for (const [at, op] of ops.entries()) {
    const reduced = reducers.reduce({ seq: BigInt(at + 1), op });
    if (reduced.kind === 'folded') await views.apply(STREAM, 1, reduced.changes);
  }
  await views.saveMark(STREAM, 1, { ...emptyWatermark(), foldedThrough: BigInt(ops.length) }, 0, new Map());
  return views;
}

describe('a document read', () => {
  it('FLD-8: has the value as it was written, its version and the mark, integers exact', async () => {
    const views = await viewsOf(
      anEvent('e1', 2n ** 62n, { site: -(2n ** 63n), value: '{ "n": 9007199254740993.10 }' }),
    );
    expect(await readDocument(views, STREAM, 'events', 'e1')).toBe(
      '{"stream":"0.events","kind":"events","id":"e1","fields":{"body":{ "n": 9007199254740993.10 }},' +
        '"versions":{"body":{"lamport":4611686018427387904,"site":-9223372036854775808,"seq":1}},"folded_through":1}',
    );
  });

  it('FLD-8: is null for an unknown document and an unknown stream', async () => {
    const views = await viewsOf();
    expect(await readDocument(views, STREAM, 'events', 'e1')).toBeNull();
    expect(await readDocument(views, 'unknown', 'events', 'e1')).toBeNull();
  });

  it('FLD-1: promises no more than its rows hold, also when a fold runs between its two looks', async () => {
    class MovingViews extends MemoryViews {
      override async document(stream: string, kind: string, id: string) {
        const document = await super.document(stream, kind, id);
        await this.saveMark(stream, 1, { ...emptyWatermark(), foldedThrough: 9n }, 1, new Map());
        return document;
      }
    }
    const views = new MovingViews();
    await views.apply(STREAM, 1, [
      {
        effect: 'register',
        kind: 'events',
        id: 'e1',
        field: 'body',
        shape: 'register',
        member: '',
        value: '1',
        rule: 'higher',
        version: { rank: 0n, lamport: 1n, site: 0n, seq: 1n },
      },
    ]);
    await views.saveMark(STREAM, 1, { ...emptyWatermark(), foldedThrough: 1n }, 0, new Map());
    expect(JSON.parse((await readDocument(views, STREAM, 'events', 'e1'))!).folded_through).toBe(1);
  });
});

describe('a list of documents', () => {
  it('FLD-8: is paged by next, which is null on the last page', async () => {
    const views = await viewsOf(anEvent('a', 1), anEvent('b', 2), anEvent('c', 3));
    const first = JSON.parse(await listDocuments(views, STREAM, 'events', null, 2));
    expect(first).toEqual({
      documents: [
        {
          stream: STREAM,
          kind: 'events',
          id: 'a',
          fields: { body: { v: 1 } },
          versions: { body: { lamport: 1, site: 0, seq: 1 } },
        },
        {
          stream: STREAM,
          kind: 'events',
          id: 'b',
          fields: { body: { v: 2 } },
          versions: { body: { lamport: 2, site: 0, seq: 2 } },
        },
      ],
      next: 'b',
      folded_through: 3,
    });
    const last = JSON.parse(await listDocuments(views, STREAM, 'events', 'b', 2));
    expect([last.documents.length, last.documents[0].id, last.next]).toEqual([1, 'c', null]);
  });

  it('FLD-8: of an unknown stream or kind is empty', async () => {
    const views = await viewsOf();
    expect(await listDocuments(views, 'unknown', 'events', null, 2)).toBe(
      '{"documents":[],"next":null,"folded_through":0}',
    );
    expect(await listDocuments(views, STREAM, 'unknown', null, 2)).toBe(
      '{"documents":[],"next":null,"folded_through":0}',
    );
  });
});

describe('every answer', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('', '"', '\\', '\0', '\u2028', '😀', '__proto__', '</script>'),
  );
  const value = fc.oneof(
    fc.json(),
    text,
    fc.constantFrom('', ' ', '1e400', '-0', '\ufeff1', '{"a":1,"a":2}', '"\\ud800"', '1 '),
  );

  it('FLD-8: is JSON with the value inside, whatever the ids and the value of an op are', async () => {
    await fc.assert(
      fc.asyncProperty(text, text, value, async (kind, id, written) => {
        const views = await viewsOf(anEvent(id, 1, { targetKind: kind, value: written }));
        const one = await readDocument(views, STREAM, kind, id);
        const { documents } = JSON.parse(await listDocuments(views, STREAM, kind, null, 5));
        expect(documents).toHaveLength(one === null ? 0 : 1);
        if (one === null) return;
        const { folded_through: _, ...document } = JSON.parse(one);
        expect(document).toMatchObject({ stream: STREAM, kind, id });
        expect(document.fields.body).toEqual(JSON.parse(written));
        expect(documents).toEqual([document]);
      }),
      { numRuns: 300 },
    );
  });
});
