import { Fault, JSON_DEPTH_MAX } from '@tidemark/libs-kernel';
import { decodeUtf8 } from './json-read.ts';
import { JsonScanner, OPEN_BRACE } from './json-scanner.ts';

/** Source texts of the members that were asked for, by name. */
export type Fields = ReadonlyMap<string, string>;

/**
 * The named members of a body that is one JSON object; others are judged as JSON and ignored. 'malformed' when it is no JSON,
 * 'invalid' when it is no object or names one of them twice. A member may be nested as deep as a document of its own.
 */
export function readFields(body: Uint8Array, names: readonly string[]): Fields {
  const scan = new JsonScanner(decodeUtf8(body), { depthMax: JSON_DEPTH_MAX + 1 });
  const fields = new Map<string, string>();
  let twice: string | undefined;
  if (scan.peek() !== OPEN_BRACE) {
    scan.skip();
    scan.end();
    throw new Fault('invalid', 'expected an object');
  }
  for (let more = scan.enter(OPEN_BRACE); more; more = scan.more(OPEN_BRACE)) {
    const name = scan.key();
    const source = scan.source();
    if (!names.includes(name)) continue;
    if (fields.has(name)) twice ??= name;
    fields.set(name, source);
  }
  scan.end();
  if (twice !== undefined) throw new Fault('invalid', `${twice}: given twice`);
  return fields;
}

export function textField(fields: Fields, name: string): string {
  const source = requiredField(fields, name);
  if (!source.startsWith('"')) throw new Fault('invalid', `${name}: expected a string`);
  return JSON.parse(source) as string;
}

export function requiredField(fields: Fields, name: string): string {
  const source = fields.get(name);
  if (source === undefined) throw new Fault('invalid', `${name}: missing`);
  return source;
}
