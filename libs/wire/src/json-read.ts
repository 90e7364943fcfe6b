import { Fault } from '@tidemark/libs-kernel';
import { beginsNumber } from './json-number.ts';
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

/** An array or object whose closing bracket was not read yet. */
type Open = JsonValue[] | OpenObject;

class OpenObject {
  readonly members = new Map<string, JsonValue>();
  /** Key of the member whose value is being read. */
  key = '';
  repeated: Set<string> | null = null;

  add(value: JsonValue): void {
    const before = this.members.size;
    this.members.set(this.key, value);
    if (this.members.size === before) (this.repeated ??= new Set()).add(this.key);
  }

  close(): JsonObject {
    return new JsonObject(this.members, this.repeated === null ? NONE : [...this.repeated]);
  }
}

const NONE: readonly string[] = [];

/** Keeps its own stack, so that no nesting can overflow the engine's. */
function readValue(scan: JsonScanner): JsonValue {
  const outer: Open[] = [];
  for (;;) {
    const unit = scan.peek();
    const filled = (unit === OPEN_BRACE || unit === OPEN_BRACKET) && scan.enter(unit);
    if (filled) {
      outer.push(openContainer(scan, unit));
      continue;
    }
    let value = readUnnested(scan, unit);
    for (;;) {
      const innermost = outer[outer.length - 1];
      if (innermost === undefined) return value;
      if (addAndPass(scan, innermost, value)) break;
      outer.pop();
      value = Array.isArray(innermost) ? innermost : innermost.close();
    }
  }
}

function openContainer(scan: JsonScanner, unit: number): Open {
  if (unit === OPEN_BRACKET) return [];
  const object = new OpenObject();
  object.key = scan.key();
  return object;
}

/** Puts the value into its container; true when another value follows, false when the container was closed. */
function addAndPass(scan: JsonScanner, open: Open, value: JsonValue): boolean {
  if (Array.isArray(open)) {
    open.push(value);
    return scan.more(OPEN_BRACKET);
  }
  open.add(value);
  const more = scan.more(OPEN_BRACE);
  if (more) open.key = scan.key();
  return more;
}

/** A scalar, or a container that `enter` has already found empty. */
function readUnnested(scan: JsonScanner, unit: number): JsonValue {
  if (unit === QUOTE) return scan.string();
  if (unit === OPEN_BRACE) return new JsonObject(new Map());
  if (unit === OPEN_BRACKET) return [];
  if (beginsNumber(unit)) return new JsonNumber(scan.number());
  return scan.literal();
}
