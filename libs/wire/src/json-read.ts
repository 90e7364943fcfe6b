import { Fault } from '@tidemark/libs-kernel';
import { JsonScanner, OPEN_BRACE, OPEN_BRACKET, QUOTE } from './json-scanner.ts';
import { JsonNumber, JsonObject, type JsonValue } from './json-value.ts';

export interface ReadJsonOptions {
  /** Deepest nesting accepted; default JSON_DEPTH_MAX. */
  readonly depthMax?: number;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Exact UTF-8 or a Fault 'malformed'; one byte order mark at the start is dropped. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new Fault('malformed', 'invalid json: the text is not UTF-8');
  }
}

/** The whole text as one JSON document (RFC 8259, nothing more), or a Fault 'malformed' that names the offset. */
export function readJson(text: string, options: ReadJsonOptions = {}): JsonValue {
  const scan = new JsonScanner(text, options);
  const value = readValue(scan);
  scan.end();
  return value;
}

/** Judges the first JSON value of the text and answers the offset just after it: what follows is the caller's to judge. */
export function jsonEnd(text: string, options: ReadJsonOptions = {}): number {
  const scan = new JsonScanner(text, options);
  scan.skip();
  return scan.at;
}

/** An array or object whose members are being read. */
interface Container {
  readonly open: number;
  readonly value: JsonValue;
  add(value: JsonValue): void;
  /** Passes to the next value; false when the closing bracket was passed instead. */
  next(): boolean;
}

function readValue(scan: JsonScanner): JsonValue {
  const outer: Container[] = [];
  for (;;) {
    const unit = scan.peek();
    let value: JsonValue;
    if (unit === OPEN_BRACE || unit === OPEN_BRACKET) {
      const filled = scan.enter(unit);
      const container = unit === OPEN_BRACE ? objectReader(scan, filled) : arrayReader(scan);
      if (filled) {
        outer.push(container);
        continue;
      }
      value = container.value;
    } else value = readScalar(scan, unit);
    for (;;) {
      const innermost = outer[outer.length - 1];
      if (innermost === undefined) return value;
      innermost.add(value);
      if (innermost.next()) break;
      value = innermost.value;
      outer.pop();
    }
  }
}

function readScalar(scan: JsonScanner, unit: number): JsonValue {
  if (unit === QUOTE) return scan.string();
  if (unit === 0x2d || (unit >= 0x30 && unit <= 0x39)) return new JsonNumber(scan.number());
  return scan.literal();
}

function arrayReader(scan: JsonScanner): Container {
  const value: JsonValue[] = [];
  return { open: OPEN_BRACKET, value, add: (element) => value.push(element), next: () => scan.more(OPEN_BRACKET) };
}

function objectReader(scan: JsonScanner, filled: boolean): Container {
  const members = new Map<string, JsonValue>();
  const repeated: string[] = [];
  let key = filled ? scan.key() : '';
  return {
    open: OPEN_BRACE,
    value: new JsonObject(members, repeated),
    add(value) {
      if (members.has(key) && !repeated.includes(key)) repeated.push(key);
      members.set(key, value);
    },
    next() {
      if (!scan.more(OPEN_BRACE)) return false;
      key = scan.key();
      return true;
    },
  };
}
