import { Fault, INGEST_BODY_BYTES_MAX } from '@tidemark/libs-kernel';
import { decodeUtf8, splitJsonArray } from '@tidemark/libs-wire';
import type { BodyFormat } from './content-type.ts';

/** One record as it stands in the body: cut out, not yet read. */
export type RawRecord =
  { readonly kind: 'text'; readonly text: string } | { readonly kind: 'unreadable'; readonly error: string };

export type Decoded =
  | { readonly kind: 'single'; readonly record: RawRecord }
  /** Cut out as they are asked for, in body order. */
  | { readonly kind: 'batch'; readonly records: Iterable<RawRecord> }
  | { readonly kind: 'refused'; readonly status: number; readonly error: string };

/**
 * Finds the records of a body. A body that is not one JSON document is refused whole, before any record of it is looked at; a line of
 * NDJSON stands alone, so a bad one fails alone. One byte order mark at the start is dropped.
 */
export function decode(format: BodyFormat, body: Uint8Array): Decoded {
  if (body.length > INGEST_BODY_BYTES_MAX) {
    return { kind: 'refused', status: 413, error: `request body exceeded ${INGEST_BODY_BYTES_MAX} bytes` };
  }
  try {
    return format === 'ndjson' ? decodeLines(body) : decodeJson(decodeUtf8(body));
  } catch (thrown) {
    if (!(thrown instanceof Fault)) throw thrown;
    return { kind: 'refused', status: 400, error: thrown.message };
  }
}

function decodeJson(text: string): Decoded {
  const first = text.search(NOT_BLANK);
  if (first < 0) return { kind: 'refused', status: 400, error: 'empty body' };
  if (text[first] !== '[') return { kind: 'single', record: { kind: 'text', text } };
  return { kind: 'batch', records: recordsOf(splitJsonArray(text)) };
}

function* recordsOf(elements: Iterable<string>): Generator<RawRecord> {
  for (const text of elements) yield { kind: 'text', text };
}

/** What JSON calls white space; U+2028 and its like are data. */
const NOT_BLANK = /[^ \t\r\n]/;

function decodeLines(body: Uint8Array): Decoded {
  const records = linesOf(body);
  const first = records.next();
  if (first.done === true) return { kind: 'refused', status: 400, error: 'empty ndjson body' };
  return { kind: 'batch', records: after(first.value, records) };
}

function* after(first: RawRecord, rest: Iterable<RawRecord>): Generator<RawRecord> {
  yield first;
  yield* rest;
}

/**
 * Lines end at LF and nowhere else; a CR before it and blanks around the record are JSON white space. Blank lines are no records, and millions
 * of them are passed over at once.
 */
function* linesOf(body: Uint8Array): Generator<RawRecord> {
  const text = decodeOrNull(body);
  // Decoding all at once is what is fast; a body that is not UTF-8 as a whole is decoded line by line, to know which line is at fault.
  for (const line of text === null ? splitBytes(body) : splitText(text)) {
    if (line === null) yield { kind: 'unreadable', error: 'invalid json: the line is not UTF-8' };
    else if (NOT_BLANK.test(line)) yield { kind: 'text', text: line };
  }
}

function* splitText(text: string): Generator<string> {
  const notBlank = new RegExp(NOT_BLANK, 'g');
  for (let found = notBlank.exec(text); found !== null; found = notBlank.exec(text)) {
    const newline = text.indexOf('\n', found.index);
    const end = newline < 0 ? text.length : newline;
    yield text.slice(text.lastIndexOf('\n', found.index) + 1, end);
    notBlank.lastIndex = end;
  }
}

const LF = 0x0a;

/** Null for a line that is not UTF-8. No UTF-8 sequence contains an LF byte, so lines may be cut before they are decoded. */
function* splitBytes(body: Uint8Array): Generator<string | null> {
  for (let start = 0, at = 0; at < body.length; at++) {
    if (body[at] === LF) start = at + 1;
    if (isBlank(body[at])) continue;
    const newline = body.indexOf(LF, at);
    const end = newline < 0 ? body.length : newline;
    const line = decodeOrNull(body.subarray(start, end));
    // Decoding drops a byte order mark, which only the first line may carry.
    const mark = start > 0 && beginsWithMark(body.subarray(start, end)) ? '\uFEFF' : '';
    yield line === null ? null : mark + line;
    at = end;
    start = end + 1;
  }
}

/** The bytes of NOT_BLANK. */
const isBlank = (byte: number | undefined): boolean => byte === LF || byte === 0x20 || byte === 0x0d || byte === 0x09;

const beginsWithMark = (bytes: Uint8Array): boolean => bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;

function decodeOrNull(bytes: Uint8Array): string | null {
  try {
    return decodeUtf8(bytes);
  } catch {
    return null;
  }
}
