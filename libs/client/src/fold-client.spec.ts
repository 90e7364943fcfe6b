import { JsonNumber } from '@tidemark/libs-wire';
import { connectFold } from './fold-client.ts';
import { type Script, ScriptedService, answer } from './spec-service.ts';

const foldOf = (script: Script) => {
  const service = new ScriptedService(script);
  return { service, fold: connectFold(service.options) };
};
const document =
  '{"stream":"s","kind":"k","id":"a/b","fields":{"n":9007199254740993},"versions":{},"folded_through":9}';
const mark = (seq: number) =>
  answer(
    200,
    `{"stream":"s","epoch":1,"folded_through":${seq},"ahead":[[${seq + 2},${seq + 4}]],"holes":[],"skipped":[[1,1]],"floor":0}`,
  );
const late = (seq: number) => answer(504, `{"error":"not yet","folded_through":${seq}}`);

test('FLD-8: a document comes to the digit, or as null', async () => {
  const { fold, service } = foldOf((_, nth) => (nth === 1 ? answer(200, document) : answer(404, '{"error":"no"}')));
  expect(await fold.document('s/1', 'k', 'a/b')).toEqual({
    kind: 'document',
    id: 'a/b',
    fields: new Map([['n', new JsonNumber('9007199254740993')]]),
    foldedThrough: 9n,
  });
  expect(await fold.document('s', 'k', 'x')).toBeNull();
  expect(service.seen[0]?.url).toBe('http://service/v1/streams/s%2F1/documents/k/a%2Fb?');
});

test('FLD-8: documents come in pages', async () => {
  const { fold, service } = foldOf(() => answer(200, `{"documents":[${document}],"next":"a/b","folded_through":9}`));
  const page = await fold.documents('s', 'k', { after: 'a', limit: 1 });
  expect(page).toMatchObject({ kind: 'page', next: 'a/b', foldedThrough: 9n, documents: [{ id: 'a/b' }] });
  expect(service.seen[0]?.url).toBe('http://service/v1/streams/s/documents/k?after=a&limit=1');
});

test('FLD-8: a read that must not be older than a seq says so, and is late when the mark is', async () => {
  const { fold, service } = foldOf(() => late(7));
  expect(await fold.document('s', 'k', 'x', { minSeq: 8n, waitSecs: 3 })).toEqual({ kind: 'late', foldedThrough: 7n });
  expect(service.seen[0]?.url).toBe('http://service/v1/streams/s/documents/k/x?min_seq=8&wait=3');
});

test('FLD-3: waiting for a seq asks until the mark is there', async () => {
  const { fold, service } = foldOf((_, nth) => (nth < 3 ? late(nth) : mark(8)));
  expect(await fold.waitFor('s', 8n)).toEqual({
    kind: 'watermark',
    epoch: 1n,
    foldedThrough: 8n,
    ahead: [[10n, 12n]],
    skipped: [[1n, 1n]],
    floor: 0n,
  });
  expect(service.seen.map(({ url }) => url)).toEqual(
    Array(3).fill('http://service/v1/streams/s/watermark?min_seq=8&wait=25'),
  );
});

test('FLD-8: an op may be waited for by its id, as ingest answers it', async () => {
  const { fold, service } = foldOf((_, nth) => (nth < 2 ? late(nth) : mark(8)));
  expect(await fold.waitForOp('s', 'a/1')).toMatchObject({ foldedThrough: 8n });
  expect(service.seen.map(({ url }) => url)).toEqual(
    Array(2).fill('http://service/v1/streams/s/watermark?min_op=a%2F1&wait=25'),
  );
});

test("a proxy's 504 is no answer of the fold-worker, and is asked past", async () => {
  const { fold, service } = foldOf((_, nth) => (nth === 1 ? answer(504, '<html>') : mark(1)));
  expect(await service.ended(fold.watermark('s'))).toMatchObject({ foldedThrough: 1n });
});
