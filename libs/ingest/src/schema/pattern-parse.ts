/** What a pattern is made of, as far as whether a text fits: groups remember nothing, and lazy is as good as greedy. */
export type PatternNode =
  /** One code point: a literal, an escape, a class or a dot, by its own source. */
  | { readonly kind: 'set'; readonly source: string }
  | { readonly kind: 'assert'; readonly what: Assertion }
  | { readonly kind: 'seq'; readonly parts: readonly PatternNode[] }
  | { readonly kind: 'choice'; readonly arms: readonly PatternNode[] }
  | { readonly kind: 'repeat'; readonly of: PatternNode; readonly min: number; readonly max: number };

export type Assertion = 'start' | 'end' | 'word' | 'notWord';

/** Reads a pattern that the language itself takes with the flag u. Throws for what cannot be judged in one pass over the text. */
export function parsePattern(source: string): PatternNode {
  // The language's own judgement of the grammar, so that nothing below meets a pattern that is none.
  new RegExp(source, 'u');
  return new PatternReader(source).choice();
}

const QUANTIFIER = /(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/y;
const ESCAPE =
  /\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u\{[^}]*\}|u.{4}|x..|c.|[pP]\{[^}]*\}|.)/suy;
const CLASS = /\[(?:\\.|[^\]\\])*\]/suy;
const GROUP = /\((?:\?:|\?<(?![=!])[^>]*>|(?!\?))/suy;
const LITERAL = /[^]/uy;
const SIMPLE: Readonly<Record<string, readonly [number, number]>> = {
  '*': [0, Infinity],
  '+': [1, Infinity],
  '?': [0, 1],
};

class PatternReader {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  choice(): PatternNode {
    const arms = [this.#sequence()];
    while (this.#source[this.#at] === '|') {
      this.#at++;
      arms.push(this.#sequence());
    }
    return arms.length === 1 ? arms[0]! : { kind: 'choice', arms };
  }

  #sequence(): PatternNode {
    const parts: PatternNode[] = [];
    while (this.#at < this.#source.length && !'|)'.includes(this.#source[this.#at]!)) parts.push(this.#term());
    return { kind: 'seq', parts };
  }

  #term(): PatternNode {
    const atom = this.#atom();
    const [found, simple, least, upTo, most] = this.#match(QUANTIFIER) ?? [];
    if (found === undefined) return atom;
    const min = Number(least);
    const [from, to] = SIMPLE[simple ?? ''] ?? [min, upTo === undefined ? min : most === '' ? Infinity : Number(most)];
    return { kind: 'repeat', of: atom, min: from, max: to };
  }

  #atom(): PatternNode {
    const first = this.#source[this.#at];
    if (first === '^' || first === '$') {
      this.#at++;
      return { kind: 'assert', what: first === '^' ? 'start' : 'end' };
    }
    if (first === '(') return this.#group();
    const source = this.#match(first === '\\' ? ESCAPE : first === '[' ? CLASS : LITERAL)![0];
    if (source === '\\b' || source === '\\B') return { kind: 'assert', what: source === '\\b' ? 'word' : 'notWord' };
    if (/^\\[1-9k]/.test(source)) throw new Error(`a pattern cannot refer back to a group: ${this.#source}`);
    return { kind: 'set', source };
  }

  #group(): PatternNode {
    if (this.#match(GROUP) === null) throw new Error(`a pattern cannot look ahead or behind: ${this.#source}`);
    const inner = this.choice();
    this.#at++;
    return inner;
  }

  #match(what: RegExp): RegExpExecArray | null {
    what.lastIndex = this.#at;
    const found = what.exec(this.#source);
    if (found !== null) this.#at = what.lastIndex;
    return found;
  }
}
