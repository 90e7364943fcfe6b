import { Fault, JSON_DEPTH_MAX } from '@tidemark/libs-kernel';
import { isCut } from './json-refuse.ts';
import { CLOSE_BRACKET, COMMA, JsonScanner, OPEN_BRACKET } from './json-scanner.ts';

/**
 * The source texts of an array's elements, after the whole text was judged: a broken array gives no element at all. Lone surrogates
 * are not judged here, so that one bad element fails alone when it is read. Each element may be nested JSON_DEPTH_MAX deep.
 */
export function splitJsonArray(text: string): string[] {
  const scan = new JsonScanner(text, { depthMax: JSON_DEPTH_MAX + 1, judgeSurrogates: false });
  try {
    const elements = readElements(scan);
    scan.end();
    return elements;
  } catch (thrown) {
    throw isCut(thrown) ? new Fault('malformed', 'invalid json: unterminated json array') : thrown;
  }
}

function readElements(scan: JsonScanner): string[] {
  const elements: string[] = [];
  if (!scan.enter(OPEN_BRACKET)) return elements;
  do {
    const unit = scan.peek();
    if (unit === COMMA || unit === CLOSE_BRACKET) {
      throw new Fault('malformed', 'invalid json: empty element in the json array');
    }
    elements.push(scan.source());
  } while (scan.more(OPEN_BRACKET));
  return elements;
}
