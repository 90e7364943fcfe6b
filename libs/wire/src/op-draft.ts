import { compactJson } from './json-compact.ts';
import { parseInt64 } from './int64.ts';
import { type JsonScanner, QUOTE } from './json-scanner.ts';
import type { Op } from './op.ts';
import { type ExtraMember, extraText } from './op-extra.ts';
import { type FieldKind, OP_FIELDS, type OpField } from './op-fields.ts';

const NAMES = OP_FIELDS.map(({ name }) => name);
const PLACES = new Map(NAMES.map((name, place) => [name, place]));
const REQUIRED = OP_FIELDS.reduce((bits, { required }, place) => bits | (required ? 1 << place : 0), 0);

type FieldValue = string | bigint | number | null;

/** One op while its members are read, in any order. Wrong members are read over; the first problem is kept. */
export class OpDraft {
  readonly #scan: JsonScanner;
  /** By place in OP_FIELDS; these are what a field holds that is not given. */
  readonly #values: FieldValue[] = [0, '', 0n, 0n, 'task', '', '', '', '', null, '', ''];
  readonly #extra: ExtraMember[] = [];
  readonly #extraMax: number;
  /** One bit for each field that was given. */
  #given = 0;
  /** Place of the field that would come next. */
  #expected = 0;
  #problem: string | null = null;

  /** More than `extraMax` unknown members are a problem, and cost no more than to read over them. */
  constructor(scan: JsonScanner, extraMax = Infinity) {
    this.#scan = scan;
    this.#extraMax = extraMax;
  }

  readMember(): void {
    const place = this.#readKey();
    if (place === null) return;
    const bit = 1 << place;
    if ((this.#given & bit) !== 0) this.#note(place, 'given twice');
    this.#given |= bit;
    this.#values[place] = this.#value(place);
  }

  /** The place of the field that comes next; null after an unknown member was read. */
  #readKey(): number | null {
    const scan = this.#scan;
    scan.peek();
    const start = scan.at;
    const blanks = scan.blanks;
    const key = scan.key();
    const place = this.#placeOf(key);
    if (place !== undefined) return place;
    scan.skip();
    this.#keep(key, scan.text.slice(start, scan.at), scan.blanks === blanks);
    return null;
  }

  #keep(key: string, source: string, compact: boolean): void {
    if (this.#extra.length < this.#extraMax) this.#extra.push({ key, text: compact ? source : compactJson(source) });
    else this.#problem ??= `: more than ${this.#extraMax} unknown members`;
  }

  /** Members nearly always come in order, and comparing two texts is cheaper than hashing one. */
  #placeOf(key: string): number | undefined {
    let place = this.#expected;
    if (key !== NAMES[place] && key !== NAMES[++place]) return PLACES.get(key);
    this.#expected = place + 1;
    return place;
  }

  /** How many unknown members are kept; repeated ones count. */
  get extraCount(): number {
    return this.#extra.length;
  }

  /** What is wrong with the op, to stand behind the op's own place: `.field: problem`; null when nothing is. */
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

  #value(place: number): FieldValue {
    const kind = (OP_FIELDS[place] as OpField).kind;
    if (isText(kind) && this.#scan.peek() === QUOTE) return this.#scan.string();
    const value = fieldValue(kind, this.#scan.source());
    if (value === undefined) this.#note(place, `expected ${EXPECTED[kind]}`);
    return value ?? null;
  }

  #note(place: number, problem: string): void {
    this.#problem ??= `.${OP_FIELDS[place]?.name}: ${problem}`;
  }
}

const EXPECTED: Record<FieldKind, string> = {
  version: 'an integer from 0 to 65535',
  integer: 'a signed 64-bit integer',
  text: 'a string',
  'text or null': 'a string or null',
};

function isText(kind: FieldKind): boolean {
  return kind === 'text' || kind === 'text or null';
}

/** The value of a token that is no string; undefined when the field may not hold it. */
function fieldValue(kind: FieldKind, token: string): FieldValue | undefined {
  if (kind === 'integer') return parseInt64(token) ?? undefined;
  if (kind === 'version')
    return /^(?:0|[1-9][0-9]{0,4})$/.test(token) && Number(token) <= 65535 ? Number(token) : undefined;
  return kind === 'text or null' && token === 'null' ? null : undefined;
}
