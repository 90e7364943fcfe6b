import { compareUtf8 } from '@tidemark/libs-kernel';
import type { Document, Views } from '@tidemark/libs-views-contract';
import { quoteJson } from '@tidemark/libs-wire';
import { renderField } from './render-field.ts';

/**
 * The JSON texts of the HTTP answers. Values stand in them as they were written, 64-bit integers as integer tokens. The mark is read
 * before the rows, so `folded_through` never promises more than the rows beside it hold (FLD-1).
 */

/** Null when the document, or any mark of its stream, is not there. */
export async function readDocument(views: Views, stream: string, kind: string, id: string): Promise<string | null> {
  const through = await foldedThrough(views, stream);
  const document = await views.document(stream, kind, id);
  return document && `{${membersOf(stream, document)},"folded_through":${through}}`;
}

/** A page of documents and the `after` of the next one. A stream or kind that is not there is an empty page. */
export async function listDocuments(
  views: Views,
  stream: string,
  kind: string,
  after: string | null,
  limit: number,
): Promise<string> {
  const through = await foldedThrough(views, stream);
  const { documents, next } = await views.documents(stream, kind, after, limit);
  const texts = documents.map((document) => `{${membersOf(stream, document)}}`);
  return `{"documents":[${texts.join()}],"next":${next === null ? 'null' : quoteJson(next)},"folded_through":${through}}`;
}

async function foldedThrough(views: Views, stream: string): Promise<bigint> {
  return (await views.mark(stream))?.watermark.foldedThrough ?? 0n;
}

function membersOf(stream: string, { kind, id, fields }: Document): string {
  const rendered = [...fields]
    .sort(([a], [b]) => compareUtf8(a, b))
    .map(([name, field]) => ({ name: quoteJson(name), ...renderField(field) }));
  const values = rendered.map(({ name, value }) => `${name}:${value}`);
  const versions = rendered.map(({ name, version }) => {
    return `${name}:{"lamport":${version.lamport},"site":${version.site},"seq":${version.seq}}`;
  });
  return (
    `"stream":${quoteJson(stream)},"kind":${quoteJson(kind)},"id":${quoteJson(id)},` +
    `"fields":{${values.join()}},"versions":{${versions.join()}}`
  );
}
