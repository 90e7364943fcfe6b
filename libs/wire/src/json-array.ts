import { Fault, JSON_DEPTH_MAX } from '@tidemark/libs-kernel';
import { isCut } from './json-refuse.ts';
import { CLOSE_BRACKET, COMMA, JsonScanner, OPEN_BRACKET } from './json-scanner.ts';

/**
 * The source texts of an array's elements, after the whole text was judged: a broken array gives no element at all. Lone surrogates
 * are not judged here, so that one bad element fails alone when it is read. Each element may be nested JSON_DEPTH_MAX deep.
 * An element is cut out when it is asked for: millions of small ones would take many times the memory of their text.
 */
export function splitJsonArray(text: string): Iterable<string> {
  const scan = new JsonScanner(text, { depthMax: JSON_DEPTH_MAX + 1, judgeSurrogates: false });
  try {
    const bounds = boundsOfElements(scan);
    scan.end();
    return cut(text, bounds);
  } catch (thrown) {
    throw isCut(thrown) ? new Fault('malformed', 'invalid json: unterminated json array') : thrown;
  }
}

function* cut(text: string, bounds: Uint32Array): Generator<string> {
  for (let at = 0; at < bounds.length; at += 2) yield text.slice(bounds[at], bounds[at + 1]);
}

/** Where each element begins and ends. */
function boundsOfElements(scan: JsonScanner): Uint32Array {
  let bounds = new Uint32Array(64);
  let count = 0;
  if (!scan.enter(OPEN_BRACKET)) return bounds.subarray(0, 0);
  do {
    const unit = scan.peek();
    if (unit === COMMA || unit === CLOSE_BRACKET) {
      throw new Fault('malformed', 'invalid json: empty element in the json array');
    }
    if (count === bounds.length) bounds = grown(bounds);
    bounds[count++] = scan.at;
    scan.skip();
    bounds[count++] = scan.at;
  } while (scan.more(OPEN_BRACKET));
  return bounds.subarray(0, count);
}

function grown(bounds: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(bounds.length * 2);
  larger.set(bounds);
  return larger;
}
