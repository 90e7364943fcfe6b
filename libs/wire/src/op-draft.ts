import { compactJson } from './json-compact.ts';
import { parseInt64 } from './int64.ts';
import { type JsonScanner, QUOTE } from './json-scanner.ts';
import type { Op } from './op.ts';
import { type ExtraMember, extraText } from './op-extra.ts';
import { OP_FIELDS } from './op-fields.ts';

const PLACES = new Map(OP_FIELDS.map(({ name }, place) => [name, place]));
/** A field's key as it stands in compact text. */
const KEYS = OP_FIELDS.map(({ name }) => `"${name}":`);
const REQUIRED = OP_FIELDS.reduce((bits, { required }, place) => bits | (required ? 1 << place : 0), 0);

/** One op while its members are read, in any order. Wrong members are read over; the first problem is kept. */
export class OpDraft {
  readonly #scan: JsonScanner;
  readonly #values: (string | bigint | number | null)[] = [0, '', 0n, 0n, 'task', '', '', '', '', null, '', ''];
  readonly #extra: ExtraMember[] = [];
  /** One bit for each field that was given. */
  #given = 0;
  /** Place of the field that would come next if the members came in order. */
  #expected = 0;
  #problem: string | null = null;

  constructor(scan: JsonScanner) {
    this.#scan = scan;
  }

  readMember(): void {
    const place = this.#passExpectedKey() ?? this.#readKey();
    if (place === null) return;
    const bit = 1 << place;
    if ((this.#given & bit) !== 0) this.#note(place, 'given twice');
    this.#given |= bit;
    this.#expected = place + 1;
    this.#values[place] = this.#value(place);
  }

  /** The place of the next field in order when its key comes next as compact text, so that most keys are never built. */
  #passExpectedKey(): number | null {
    for (let place = this.#expected; place < KEYS.length; place++) {
      if (this.#scan.passText(KEYS[place] as string)) return place;
      if ((REQUIRED & (1 << place)) !== 0) break;
    }
    return null;
  }

  /** The place of any field; null after an unknown member was read. */
  #readKey(): number | null {
    const scan = this.#scan;
    scan.peek();
    const start = scan.at;
    const blanks = scan.blanks;
    const key = scan.key();
    const place = PLACES.get(key);
    if (place !== undefined) return place;
    scan.skip();
    const source = scan.text.slice(start, scan.at);
    this.#extra.push({ key, text: scan.blanks === blanks ? source : compactJson(source) });
    return null;
  }

  /** What is wrong with the op, beginning with the field's name; null when nothing is. */
  problem(): string | null {
    const missing = REQUIRED & ~this.#given;
    if (missing !== 0) this.#note(31 - Math.clz32(missing & -missing), 'missing');
    return this.#problem;
  }

  op(): Op {
    const v = this.#values;
    return {
      envelopeVersion: v[0] as number,
      opId: v[1] as string,
      lamport: v[2] as bigint,
      site: v[3] as bigint,
      domain: v[4] as string,
      targetKind: v[5] as string,
      targetId: v[6] as string,
      field: v[7] as string,
      opType: v[8] as string,
      value: v[9] as string | null,
      author: v[10] as string,
      wallClock: v[11] as string,
      extra: extraText(this.#extra),
    };
  }

  #value(place: number): string | bigint | number | null {
    const { kind } = OP_FIELDS[place]!;
    if (kind === 'text' || kind === 'text or null') {
      if (this.#scan.peek() === QUOTE) return this.#scan.string();
      if (this.#scan.source() !== 'null' || kind === 'text')
        this.#note(place, kind === 'text' ? 'expected a string' : 'expected a string or null');
      return null;
    }
    const token = this.#scan.source();
    if (kind === 'integer') {
      const value = parseInt64(token);
      if (value === null) this.#note(place, 'expected a signed 64-bit integer');
      return value;
    }
    const version = /^(?:0|[1-9][0-9]{0,4})$/.test(token) ? Number(token) : -1;
    if (version < 0 || version > 65535) this.#note(place, 'expected an integer from 0 to 65535');
    return version;
  }

  #note(place: number, problem: string): void {
    this.#problem ??= `${OP_FIELDS[place]?.name}: ${problem}`;
  }
}
