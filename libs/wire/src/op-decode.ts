import { Fault, PUSH_OPS_MAX } from '@tidemark/libs-kernel';
import { parseInt64 } from './int64.ts';
import { decodeUtf8 } from './json-read.ts';
import { JsonScanner, OPEN_BRACE, OPEN_BRACKET, QUOTE } from './json-scanner.ts';
import type { Op } from './op.ts';
import { type ExtraMember, extraText } from './op-extra.ts';
import { REQUIRED_BITS } from './op-fields.ts';

/**
 * The ops of a push body, straight from the text. A body that is no JSON is 'malformed' (400) whatever else is wrong with it; then more
 * than PUSH_OPS_MAX ops are 'too_large' (413), whatever they hold; then the first thing of a wrong shape is 'invalid' (422).
 */
export function decodePush(body: Uint8Array): Op[] {
  const scan = new JsonScanner(decodeUtf8(body));
  const push = new PushReader(scan);
  push.read();
  scan.end();
  return push.result();
}

class PushReader {
  readonly #scan: JsonScanner;
  readonly #ops: Op[] = [];
  #count = 0;
  #given = false;
  #problem: string | null = null;

  constructor(scan: JsonScanner) {
    this.#scan = scan;
  }

  read(): void {
    const scan = this.#scan;
    if (scan.peek() !== OPEN_BRACE) return this.#skipWrong('expected an object');
    for (let more = scan.enter(OPEN_BRACE); more; more = scan.more(OPEN_BRACE)) {
      if (scan.key() === 'ops') this.#readOps();
      else scan.skip();
    }
    if (!this.#given) this.#note('ops: missing');
  }

  result(): Op[] {
    if (this.#count > PUSH_OPS_MAX)
      throw new Fault('too_large', `ops: ${this.#count}, and ${PUSH_OPS_MAX} is the most`);
    if (this.#problem !== null) throw new Fault('invalid', this.#problem);
    return this.#ops;
  }

  #readOps(): void {
    const scan = this.#scan;
    if (this.#given) this.#note('ops: given twice');
    this.#given = true;
    if (scan.peek() !== OPEN_BRACKET) return this.#skipWrong('ops: expected an array');
    for (let more = scan.enter(OPEN_BRACKET); more; more = scan.more(OPEN_BRACKET)) {
      this.#count++;
      // After the first problem, or one op too many, the rest only has to be JSON.
      if (this.#problem !== null || this.#count > PUSH_OPS_MAX) scan.skip();
      else if (scan.peek() === OPEN_BRACE) this.#readOp();
      else this.#skipWrong(`ops[${this.#count - 1}]: expected an object`);
    }
  }

  #readOp(): void {
    const draft = new OpDraft();
    for (let more = this.#scan.enter(OPEN_BRACE); more; more = this.#scan.more(OPEN_BRACE)) {
      draft.readMember(this.#scan, this.#scan.key());
    }
    const problem = draft.problem();
    if (problem === null) this.#ops.push(draft.op());
    else this.#note(`ops[${this.#count - 1}].${problem}`);
  }

  #skipWrong(problem: string): void {
    this.#note(problem);
    this.#scan.skip();
  }

  #note(problem: string): void {
    this.#problem ??= problem;
  }
}

const DOMAIN_BIT = 1 << 10;
const VALUE_BIT = 1 << 11;
const ALL_REQUIRED = (1 << 10) - 1;

class OpDraft {
  #envelopeVersion = 0;
  #opId = '';
  #lamport = 0n;
  #site = 0n;
  #domain = 'task';
  #targetKind = '';
  #targetId = '';
  #field = '';
  #opType = '';
  #value: string | null = null;
  #author = '';
  #wallClock = '';
  #extra: ExtraMember[] = [];
  #seen = 0;
  #problem: string | null = null;

  readMember(scan: JsonScanner, key: string): void {
    switch (key) {
      case 'envelope_version':
        this.#see(REQUIRED_BITS.envelope_version, key);
        this.#envelopeVersion = this.#version(scan);
        return;
      case 'op_id':
        this.#see(REQUIRED_BITS.op_id, key);
        this.#opId = this.#text(scan, key);
        return;
      case 'lamport':
        this.#see(REQUIRED_BITS.lamport, key);
        this.#lamport = this.#integer(scan, key);
        return;
      case 'site':
        this.#see(REQUIRED_BITS.site, key);
        this.#site = this.#integer(scan, key);
        return;
      case 'domain':
        this.#see(DOMAIN_BIT, key);
        this.#domain = this.#text(scan, key);
        return;
      case 'target_kind':
        this.#see(REQUIRED_BITS.target_kind, key);
        this.#targetKind = this.#text(scan, key);
        return;
      case 'target_id':
        this.#see(REQUIRED_BITS.target_id, key);
        this.#targetId = this.#text(scan, key);
        return;
      case 'field':
        this.#see(REQUIRED_BITS.field, key);
        this.#field = this.#text(scan, key);
        return;
      case 'op_type':
        this.#see(REQUIRED_BITS.op_type, key);
        this.#opType = this.#text(scan, key);
        return;
      case 'value':
        this.#see(VALUE_BIT, key);
        this.#value = this.#textOrNull(scan, key);
        return;
      case 'author':
        this.#see(REQUIRED_BITS.author, key);
        this.#author = this.#text(scan, key);
        return;
      case 'wall_clock':
        this.#see(REQUIRED_BITS.wall_clock, key);
        this.#wallClock = this.#text(scan, key);
        return;
      default:
        this.#extra.push([key, scan.source()]);
    }
  }

  /** What is wrong with the op, beginning with the field's name; null when nothing is. */
  problem(): string | null {
    if (this.#problem === null && (this.#seen & ALL_REQUIRED) !== ALL_REQUIRED) return this.#missing();
    return this.#problem;
  }

  op(): Op {
    return {
      envelopeVersion: this.#envelopeVersion,
      opId: this.#opId,
      lamport: this.#lamport,
      site: this.#site,
      domain: this.#domain,
      targetKind: this.#targetKind,
      targetId: this.#targetId,
      field: this.#field,
      opType: this.#opType,
      value: this.#value,
      author: this.#author,
      wallClock: this.#wallClock,
      extra: extraText(this.#extra),
    };
  }

  #see(bit: number, key: string): void {
    if ((this.#seen & bit) !== 0) this.#problem ??= `${key}: given twice`;
    this.#seen |= bit;
  }

  #missing(): string {
    const name = Object.entries(REQUIRED_BITS).find(([, bit]) => (this.#seen & bit) === 0)?.[0];
    return `${name}: missing`;
  }

  #text(scan: JsonScanner, key: string): string {
    if (scan.peek() === QUOTE) return scan.string();
    scan.skip();
    this.#problem ??= `${key}: expected a string`;
    return '';
  }

  #textOrNull(scan: JsonScanner, key: string): string | null {
    if (scan.peek() === QUOTE) return scan.string();
    if (scan.source() !== 'null') this.#problem ??= `${key}: expected a string or null`;
    return null;
  }

  #integer(scan: JsonScanner, key: string): bigint {
    const value = parseInt64(scan.source());
    if (value === null) this.#problem ??= `${key}: expected a signed 64-bit integer`;
    return value ?? 0n;
  }

  #version(scan: JsonScanner): number {
    const token = scan.source();
    const version = /^(?:0|[1-9][0-9]{0,4})$/.test(token) ? Number(token) : -1;
    if (version < 0 || version > 65535) this.#problem ??= 'envelope_version: expected an integer from 0 to 65535';
    return version;
  }
}
