import { JSON_DEPTH_MAX } from '@tidemark/libs-kernel';
import { beginsNumber, endOfNumber } from './json-number.ts';
import { refuseJson } from './json-refuse.ts';
import { JsonStrings } from './json-strings.ts';

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
/** What peek answers when nothing but blanks is left. */
export const END = -1;

export interface ScannerOptions {
  readonly depthMax?: number;
  /** False: lone surrogates are let pass, for a caller that only cuts the text and has each piece judged later. */
  readonly judgeSurrogates?: boolean;
}

/**
 * Reads RFC 8259 tokens front to back, without recursion. Whatever is no JSON is a Fault 'malformed' whose message begins with
 * `invalid json: ` and names the offset. Lone surrogates are refused, escaped or raw.
 */
export class JsonScanner {
  readonly text: string;
  readonly #strings: JsonStrings;
  readonly #depthMax: number;
  #at = 0;
  #depth = 0;
  #blanks = 0;

  constructor(text: string, options: ScannerOptions = {}) {
    this.text = text;
    this.#strings = new JsonStrings(text, options.judgeSurrogates ?? true);
    this.#depthMax = options.depthMax ?? JSON_DEPTH_MAX;
  }

  /** Offset of the next unread unit. */
  get at(): number {
    return this.#at;
  }

  /** How many blanks between tokens were passed so far: a source without any is compact. */
  get blanks(): number {
    return this.#blanks;
  }

  /** Passes blanks; the unit that comes next, or END. */
  peek(): number {
    const text = this.text;
    while (this.#at < text.length) {
      const unit = text.charCodeAt(this.#at);
      if (unit > 0x20 || (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09)) return unit;
      this.#at++;
      this.#blanks++;
    }
    return END;
  }

  /** Passes the opening bracket of an array or object; true when something stands before its closing bracket. */
  enter(open: number): boolean {
    if (this.#depth === this.#depthMax) this.#refuse(`nested deeper than ${this.#depthMax}`);
    this.#pass(open);
    this.#depth++;
    return this.peek() !== closing(open) || this.#leave();
  }

  /** After an element or member: passes the comma (true) or the closing bracket (false). */
  more(open: number): boolean {
    const unit = this.peek();
    if (unit === closing(open)) return this.#leave();
    if (unit !== COMMA) this.#refuse(`expected ',' or '${String.fromCharCode(closing(open))}'`);
    this.#at++;
    return true;
  }

  /** Reads a key and passes its colon. */
  key(): string {
    const key = this.string();
    this.#pass(COLON);
    return key;
  }

  string(): string {
    const start = this.#passString();
    // The token is proved valid, so the engine's own parser may undo its escapes.
    if (this.#strings.escaped) return JSON.parse(this.text.slice(start, this.#at)) as string;
    return this.text.slice(start + 1, this.#at - 1);
  }

  /** Reads the source token of a number. */
  number(): string {
    this.peek();
    const start = this.#at;
    this.#at = endOfNumber(this.text, start);
    return this.text.slice(start, this.#at);
  }

  /** Reads `true`, `false` or `null`. */
  literal(): boolean | null {
    const unit = this.peek();
    if (unit === 0x74) this.#passWord('true');
    else if (unit === 0x66) this.#passWord('false');
    else if (unit === 0x6e) this.#passWord('null');
    else this.#refuse('expected a value');
    return unit === 0x6e ? null : unit === 0x74;
  }

  /** Passes one whole value and answers its source text. */
  source(): string {
    this.peek();
    const start = this.#at;
    this.skip();
    return this.text.slice(start, this.#at);
  }

  /** Passes one whole value, judging all of it. */
  skip(): void {
    const unit = this.peek();
    if (unit === OPEN_BRACE || unit === OPEN_BRACKET) this.#skipContainer();
    else this.#skipScalar(unit);
  }

  /** Refuses anything but blanks after the value. */
  end(): void {
    if (this.peek() !== END) this.#refuse('text after the value');
  }

  #skipContainer(): void {
    const open: number[] = [];
    for (;;) {
      const unit = this.peek();
      if (unit !== OPEN_BRACE && unit !== OPEN_BRACKET) this.#skipScalar(unit);
      else if (this.enter(unit)) {
        open.push(unit);
        if (unit === OPEN_BRACE) this.#skipKey();
        continue;
      }
      if (!this.#skipToNextValue(open)) return;
    }
  }

  /** A value has ended: passes closing brackets up to the next value; false when the outermost value is complete. */
  #skipToNextValue(open: number[]): boolean {
    for (;;) {
      const innermost = open[open.length - 1];
      if (innermost === undefined) return false;
      if (this.more(innermost)) {
        if (innermost === OPEN_BRACE) this.#skipKey();
        return true;
      }
      open.pop();
    }
  }

  #skipKey(): void {
    this.#passString();
    this.#pass(COLON);
  }

  #skipScalar(unit: number): void {
    if (unit === QUOTE) this.#passString();
    else if (beginsNumber(unit)) this.#at = endOfNumber(this.text, this.#at);
    else this.literal();
  }

  /** Passes a string token; the offset of its opening quote. */
  #passString(): number {
    if (this.peek() !== QUOTE) this.#refuse('expected a string');
    const start = this.#at;
    this.#at = this.#strings.endOf(start);
    return start;
  }

  #passWord(word: string): void {
    for (let i = 0; i < word.length; i++) {
      if (this.text.charCodeAt(this.#at) !== word.charCodeAt(i)) this.#refuse('expected a value');
      this.#at++;
    }
  }

  #pass(unit: number): void {
    if (this.peek() !== unit) this.#refuse(`expected '${String.fromCharCode(unit)}'`);
    this.#at++;
  }

  #leave(): false {
    this.#at++;
    this.#depth--;
    return false;
  }

  #refuse(what: string): never {
    return refuseJson(this.text, this.#at, what);
  }
}

function closing(open: number): number {
  return open === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET;
}
