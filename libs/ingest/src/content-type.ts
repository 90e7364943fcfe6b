/** `json`: one object or an array of objects. `ndjson`: one object per line. */
export type BodyFormat = 'json' | 'ndjson';

export type ContentType =
  | { readonly kind: 'supported'; readonly format: BodyFormat }
  | { readonly kind: 'unsupported'; readonly error: string };

const FORMATS: ReadonlyMap<string, BodyFormat> = new Map([
  ['application/json', 'json'],
  ['application/x-ndjson', 'ndjson'],
  ['application/ndjson', 'ndjson'],
  ['application/jsonl', 'ndjson'],
  ['application/jsonlines', 'ndjson'],
]);

const QUOTED_MAX = 4;
const QUOTED_BYTES_MAX = 128;

/**
 * The declared media type alone decides the format; the body is never guessed at. Repeated headers must agree. A comma is never
 * accepted: it may join two declarations, and picking one of them could lose the records of the other.
 */
export function readContentType(header: string | readonly string[] | undefined): ContentType {
  const declared = header === undefined ? [] : [header].flat();
  const offered = `ingest requires one of ${[...FORMATS.keys()].join(', ')}`;
  if (declared.length === 0) return { kind: 'unsupported', error: `no Content-Type: ${offered}` };
  const formats = new Set(declared.map(formatOf));
  const [format] = formats;
  if (formats.size === 1 && format !== undefined) return { kind: 'supported', format };
  const distinct = [...new Set(declared)];
  const error =
    distinct.length > 1
      ? `conflicting Content-Type declarations ${quoteSome(distinct)}: ${offered}`
      : `Content-Type ${quoteSome(distinct)}: ${offered}`;
  return { kind: 'unsupported', error };
}

/** Broken parameters are tolerated, except with a comma. */
function formatOf(declaration: string): BodyFormat | undefined {
  if (declaration.includes(',')) return undefined;
  const [mediaType = ''] = declaration.split(';', 1);
  return FORMATS.get(mediaType.replace(/^[ \t]+|[ \t]+$/g, '').toLowerCase());
}

/** Quotes at most 4 declarations, each cut at 128 bytes: an answer does not grow with a hostile header. */
function quoteSome(declarations: readonly string[]): string {
  const quoted = declarations.slice(0, QUOTED_MAX).map((text) => JSON.stringify(cut(text)));
  const more = declarations.length - quoted.length;
  return more > 0 ? `${quoted.join(', ')} …and ${more} more` : quoted.join(', ');
}

/** Cuts between characters, never inside one. */
function cut(text: string): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(QUOTED_BYTES_MAX));
  return text.slice(0, read);
}
