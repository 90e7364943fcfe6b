import { Fault, JSON_DEPTH_MAX } from '@tidemark/libs-kernel';

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
/** What peek answers when nothing but blanks is left. */
export const END = -1;
/** An offset past every text. */
const NOWHERE = Number.MAX_SAFE_INTEGER;
const CONTROL = /[\u0000-\u001f]/g;

export interface ScannerOptions {
  readonly depthMax?: number;
  /** False: lone surrogates are let pass, for a caller that only cuts the text and has each piece judged later. */
  readonly judgeSurrogates?: boolean;
}

/**
 * Reads RFC 8259 tokens front to back, without recursion. Whatever is no JSON is a Fault 'malformed' whose message begins with
 * `invalid json: ` and names the offset (in UTF-16 units). Lone surrogates are refused, escaped or raw.
 */
export class JsonScanner {
  readonly text: string;
  readonly #depthMax: number;
  readonly #judgeSurrogates: boolean;
  #at = 0;
  #depth = 0;
  #blanks = 0;
  #nextEscape = -1;
  #nextControl = -1;

  constructor(text: string, options: ScannerOptions = {}) {
    this.text = text;
    this.#depthMax = options.depthMax ?? JSON_DEPTH_MAX;
    this.#judgeSurrogates = options.judgeSurrogates ?? true;
    if (this.#judgeSurrogates && !text.isWellFormed()) this.#refuseRawSurrogate();
  }

  /** Offset of the next unread unit. */
  get at(): number {
    return this.#at;
  }

  get atEnd(): boolean {
    return this.#at >= this.text.length;
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

  /** Passes blanks and this one unit. */
  pass(unit: number): void {
    if (this.peek() !== unit) this.refuse(`expected '${String.fromCharCode(unit)}'`);
    this.#at++;
  }

  /** Passes the opening bracket of an array or object; true when something stands before its closing bracket. */
  enter(open: number): boolean {
    if (this.#depth === this.#depthMax) this.refuse(`nested deeper than ${this.#depthMax}`);
    this.pass(open);
    this.#depth++;
    return this.peek() !== closing(open) || this.#leave();
  }

  /** After an element or member: passes the comma (true) or the closing bracket (false). */
  more(open: number): boolean {
    const unit = this.peek();
    if (unit === closing(open)) return this.#leave();
    if (unit !== COMMA) this.refuse(`expected ',' or '${String.fromCharCode(closing(open))}'`);
    this.#at++;
    return true;
  }

  /** Reads a key and passes its colon. */
  key(): string {
    const key = this.string();
    this.pass(COLON);
    return key;
  }

  string(): string {
    if (this.peek() !== QUOTE) this.refuse('expected a string');
    const start = this.#at;
    const escaped = this.#passString();
    // The token is proved valid, so the engine's own parser may undo its escapes.
    if (escaped) return JSON.parse(this.text.slice(start, this.#at)) as string;
    return this.text.slice(start + 1, this.#at - 1);
  }

  /** Reads the source token of a number. */
  number(): string {
    this.peek();
    const start = this.#at;
    this.#passNumber();
    return this.text.slice(start, this.#at);
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

  /** Reads `true`, `false` or `null`. */
  literal(): boolean | null {
    const unit = this.peek();
    if (unit === 0x74) this.#passWord('true');
    else if (unit === 0x66) this.#passWord('false');
    else if (unit === 0x6e) this.#passWord('null');
    else this.refuse('expected a value');
    return unit === 0x6e ? null : unit === 0x74;
  }

  /** Refuses anything but blanks after the value. */
  end(): void {
    if (this.peek() !== END) this.refuse('text after the value');
  }

  refuse(what: string): never {
    const found = this.atEnd ? 'unexpected end' : what;
    throw new Fault('malformed', `invalid json: ${found} at offset ${this.#at}`);
  }

  #leave(): false {
    this.#at++;
    this.#depth--;
    return false;
  }

  #skipKey(): void {
    if (this.peek() !== QUOTE) this.refuse('expected a string');
    this.#passString();
    this.pass(COLON);
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

  #skipScalar(unit: number): void {
    if (unit === QUOTE) this.#passString();
    else if (unit === 0x2d || isDigit(unit)) this.#passNumber();
    else this.literal();
  }

  #passWord(word: string): void {
    for (let i = 0; i < word.length; i++) {
      if (this.text.charCodeAt(this.#at) !== word.charCodeAt(i)) this.refuse('expected a value');
      this.#at++;
    }
  }

  /**
   * From an opening quote past the closing one; true when there are escapes between. Hops from landmark to landmark instead of
   * looking at every unit; each search goes on where the last one ended, so a text is searched once however it is made.
   */
  #passString(): boolean {
    const start = this.#at + 1;
    let quote = this.text.indexOf('"', start);
    const escaped = this.#escapeFrom(start) < quote;
    if (escaped) quote = this.#passEscapes(quote);
    if (quote < 0) return this.#refuseOpenString(start);
    if (this.#controlFrom(start) < quote) this.#refuseAt(this.#nextControl, 'control character in a string');
    this.#at = quote + 1;
    return escaped;
  }

  /** Judges the escapes up to the closing quote, of which `quote` is the first candidate; -1 when there is no closing quote. */
  #passEscapes(quote: number): number {
    while (this.#nextEscape < quote) {
      const after = this.#endOfEscape(this.#nextEscape);
      if (quote < after) quote = this.text.indexOf('"', after);
      this.#escapeFrom(after);
    }
    return quote;
  }

  /** Offset of the first backslash at or after `at`. */
  #escapeFrom(at: number): number {
    if (this.#nextEscape < at) this.#nextEscape = orNowhere(this.text.indexOf('\\', at));
    return this.#nextEscape;
  }

  /** Offset of the first unit below the space at or after `at`. */
  #controlFrom(at: number): number {
    if (this.#nextControl < at) {
      CONTROL.lastIndex = at;
      this.#nextControl = CONTROL.test(this.text) ? CONTROL.lastIndex - 1 : NOWHERE;
    }
    return this.#nextControl;
  }

  /** No closing quote: the text is cut, unless something in it is wrong already. */
  #refuseOpenString(start: number): never {
    const control = this.#controlFrom(start);
    return control === NOWHERE
      ? this.#refuseAt(this.text.length, '')
      : this.#refuseAt(control, 'control character in a string');
  }

  #endOfEscape(at: number): number {
    const kind = this.text.charCodeAt(at + 1);
    if (kind !== 0x75) return ESCAPES.has(kind) ? at + 2 : this.#refuseAt(at + 1, 'unknown escape');
    const unit = this.#hex4(at + 2);
    if (!this.#judgeSurrogates || unit < 0xd800 || unit > 0xdfff) return at + 6;
    const paired = unit < 0xdc00 && this.text.startsWith('\\u', at + 6);
    const low = paired ? this.#hex4(at + 8) : 0;
    if (low < 0xdc00 || low > 0xdfff) this.#refuseAt(at, 'lone surrogate');
    return at + 12;
  }

  #hex4(at: number): number {
    let unit = 0;
    for (let i = at; i < at + 4; i++) {
      const digit = hexDigit(this.text.charCodeAt(i));
      if (digit < 0) this.#refuseAt(i, 'expected four hexadecimal digits');
      unit = unit * 16 + digit;
    }
    return unit;
  }

  #passNumber(): void {
    const text = this.text;
    if (text.charCodeAt(this.#at) === 0x2d) this.#at++;
    if (text.charCodeAt(this.#at) === 0x30) this.#at++;
    else this.#passDigits();
    if (text.charCodeAt(this.#at) === 0x2e) {
      this.#at++;
      this.#passDigits();
    }
    if ((text.charCodeAt(this.#at) | 0x20) === 0x65) {
      this.#at++;
      const sign = text.charCodeAt(this.#at);
      if (sign === 0x2b || sign === 0x2d) this.#at++;
      this.#passDigits();
    }
  }

  #passDigits(): void {
    const text = this.text;
    let at = this.#at;
    while (at < text.length && isDigit(text.charCodeAt(at))) at++;
    if (at === this.#at) this.refuse('expected a digit');
    this.#at = at;
  }

  #refuseRawSurrogate(): never {
    const lone = this.text.search(/\p{Surrogate}/u);
    this.#refuseAt(lone, 'lone surrogate');
  }

  #refuseAt(at: number, what: string): never {
    this.#at = Math.min(at, this.text.length);
    return this.refuse(what);
  }
}

/** Units that may follow a backslash, besides u: " \ / b f n r t. */
const ESCAPES = new Set([0x22, 0x5c, 0x2f, 0x62, 0x66, 0x6e, 0x72, 0x74]);

function orNowhere(offset: number): number {
  return offset < 0 ? NOWHERE : offset;
}

function closing(open: number): number {
  return open === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET;
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

function hexDigit(unit: number): number {
  if (isDigit(unit)) return unit - 0x30;
  const lower = unit | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
