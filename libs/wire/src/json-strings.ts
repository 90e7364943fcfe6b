import { refuseJson } from './json-refuse.ts';

const LOWER_U = 0x75;
/** What may follow a backslash, besides u. */
const ESCAPES = new Set(Array.from('"\\/bfnrt', (letter) => letter.charCodeAt(0)));
const CONTROL = /[\u0000-\u001f]/g;
/** An offset past every text. */
const NOWHERE = Number.MAX_SAFE_INTEGER;

/**
 * The string tokens of one text, which are asked for front to back. It hops from landmark to landmark (the next quote, the next escape,
 * the next control character) instead of looking at every unit. Each search goes on where the last one ended, so a text is searched
 * once, however it is made.
 */
export class JsonStrings {
  readonly #text: string;
  readonly #judgeSurrogates: boolean;
  #nextEscape = -1;
  #nextControl = -1;
  #escaped = false;

  constructor(text: string, judgeSurrogates: boolean) {
    this.#text = text;
    this.#judgeSurrogates = judgeSurrogates;
    if (judgeSurrogates && !text.isWellFormed()) refuseJson(text, text.search(/\p{Surrogate}/u), 'lone surrogate');
  }

  /** Whether the last string held escapes. */
  get escaped(): boolean {
    return this.#escaped;
  }

  /** Offset after the closing quote of the string whose opening quote is at `open`. */
  endOf(open: number): number {
    const start = open + 1;
    let quote = this.#text.indexOf('"', start);
    this.#escaped = this.#escapeFrom(start) < quote;
    if (this.#escaped) quote = this.#passEscapes(quote);
    if (this.#controlFrom(start) < (quote < 0 ? NOWHERE : quote)) {
      refuseJson(this.#text, this.#nextControl, 'control character in a string');
    }
    return quote < 0 ? refuseJson(this.#text, this.#text.length, '') : quote + 1;
  }

  /** Judges the escapes up to the closing quote, of which `quote` is the first candidate; -1 when there is no closing quote. */
  #passEscapes(quote: number): number {
    while (this.#nextEscape < quote) {
      const after = this.#endOfEscape(this.#nextEscape);
      if (quote < after) quote = this.#text.indexOf('"', after);
      this.#escapeFrom(after);
    }
    return quote;
  }

  /** Offset of the first backslash at or after `at`. */
  #escapeFrom(at: number): number {
    if (this.#nextEscape < at) {
      const found = this.#text.indexOf('\\', at);
      this.#nextEscape = found < 0 ? NOWHERE : found;
    }
    return this.#nextEscape;
  }

  /** Offset of the first control character at or after `at`. */
  #controlFrom(at: number): number {
    if (this.#nextControl < at) {
      CONTROL.lastIndex = at;
      this.#nextControl = CONTROL.test(this.#text) ? CONTROL.lastIndex - 1 : NOWHERE;
    }
    return this.#nextControl;
  }

  #endOfEscape(at: number): number {
    const text = this.#text;
    const kind = text.charCodeAt(at + 1);
    if (kind !== LOWER_U) return ESCAPES.has(kind) ? at + 2 : refuseJson(text, at + 1, 'unknown escape');
    const unit = hex4(text, at + 2);
    if (!this.#judgeSurrogates || unit < 0xd800 || unit > 0xdfff) return at + 6;
    const paired = unit < 0xdc00 && text.startsWith('\\u', at + 6);
    const low = paired ? hex4(text, at + 8) : 0;
    return low >= 0xdc00 && low <= 0xdfff ? at + 12 : refuseJson(text, at, 'lone surrogate');
  }
}

function hex4(text: string, at: number): number {
  let unit = 0;
  for (let i = at; i < at + 4; i++) {
    const digit = hexDigit(text.charCodeAt(i));
    if (digit < 0) refuseJson(text, i, 'expected four hexadecimal digits');
    unit = unit * 16 + digit;
  }
  return unit;
}

/** By arithmetic: text in another script may be nothing but escapes. */
function hexDigit(unit: number): number {
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30;
  const lower = unit | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
