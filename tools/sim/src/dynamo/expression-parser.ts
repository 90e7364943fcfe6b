/** An attribute's path, a value's placeholder, or a function of them, as it is written. */
export type Operand =
  | { readonly kind: 'path' | 'value'; readonly text: string }
  | { readonly kind: 'size'; readonly path: Operand }
  | { readonly kind: 'if_not_exists'; readonly path: Operand; readonly otherwise: Operand }
  | { readonly kind: 'plus' | 'minus'; readonly left: Operand; readonly right: Operand };
export type Comparison = '=' | '<>' | '<' | '<=' | '>' | '>=';

export type Condition =
  | { readonly kind: 'and' | 'or'; readonly left: Condition; readonly right: Condition }
  | { readonly kind: 'not'; readonly inner: Condition }
  | { readonly kind: 'exists' | 'not-exists'; readonly path: Operand }
  | { readonly kind: 'begins' | 'contains'; readonly path: Operand; readonly value: Operand }
  | { readonly kind: 'in'; readonly value: Operand; readonly among: readonly Operand[] }
  | { readonly kind: 'compare'; readonly left: Operand; readonly by: Comparison; readonly right: Operand }
  | { readonly kind: 'between'; readonly value: Operand; readonly low: Operand; readonly high: Operand };

export type Assignment =
  | { readonly by: 'set' | 'add' | 'delete'; readonly path: Operand; readonly value: Operand }
  | { readonly by: 'remove'; readonly path: Operand };

const conditions = new Map<string, Condition>();
const updates = new Map<string, readonly Assignment[]>();

/** The subset that our code needs. Anything else is an error of the simulator, never a quiet guess. */
export function parseCondition(text: string): Condition {
  return remembered(conditions, text, () => new Parser(text).wholeCondition());
}

export function parseUpdate(text: string): readonly Assignment[] {
  return remembered(updates, text, () => new Parser(text).wholeUpdate());
}

function remembered<T>(known: Map<string, T>, text: string, parse: () => T): T {
  const found = known.get(text) ?? parse();
  if (known.size < REMEMBERED_MAX) known.set(text, found);
  return found;
}

const REMEMBERED_MAX = 10_000;

const TOKEN = /\s*(?:(<>|<=|>=|[=<>(),+-])|([#:]?[A-Za-z_][A-Za-z0-9_]*(?:\.#?[A-Za-z_][A-Za-z0-9_]*)*))/y;
const CLAUSES = ['set', 'add', 'remove', 'delete'] as const;

class Parser {
  readonly #text: string;
  readonly #tokens: string[];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = tokens(text);
  }

  wholeCondition(): Condition {
    const condition = this.#or();
    if (this.#at < this.#tokens.length) throw this.#unknown();
    return condition;
  }

  wholeUpdate(): readonly Assignment[] {
    const assignments: Assignment[] = [];
    while (this.#at < this.#tokens.length) {
      const by = CLAUSES.find((clause) => this.#word(clause));
      if (by === undefined) throw this.#unknown();
      do assignments.push(this.#assignment(by));
      while (this.#take(','));
    }
    return assignments;
  }

  #assignment(by: Assignment['by']): Assignment {
    const path = this.#operand();
    if (by === 'remove') return { by, path };
    if (by !== 'set') return { by, path, value: this.#operand() };
    this.#expect('=');
    const left = this.#operand();
    const kind = this.#take('+') ? 'plus' : this.#take('-') ? 'minus' : null;
    return { by, path, value: kind === null ? left : { kind, left, right: this.#operand() } };
  }

  #or(): Condition {
    let left = this.#and();
    while (this.#word('OR')) left = { kind: 'or', left, right: this.#and() };
    return left;
  }

  #and(): Condition {
    let left = this.#not();
    while (this.#word('AND')) left = { kind: 'and', left, right: this.#not() };
    return left;
  }

  #not(): Condition {
    return this.#word('NOT') ? { kind: 'not', inner: this.#not() } : this.#primary();
  }

  #primary(): Condition {
    if (this.#take('(')) {
      const inner = this.#or();
      this.#expect(')');
      return inner;
    }
    for (const [name, kind] of [
      ['attribute_exists', 'exists'],
      ['attribute_not_exists', 'not-exists'],
    ] as const)
      if (this.#word(name)) return { kind, path: this.#arguments(1)[0] as Operand };
    for (const [name, kind] of [
      ['begins_with', 'begins'],
      ['contains', 'contains'],
    ] as const) {
      if (!this.#word(name)) continue;
      const [path, value] = this.#arguments(2) as [Operand, Operand];
      return { kind, path, value };
    }
    return this.#comparison();
  }

  #comparison(): Condition {
    const left = this.#operand();
    if (this.#word('BETWEEN')) {
      const low = this.#operand();
      if (!this.#word('AND')) throw this.#unknown();
      return { kind: 'between', value: left, low, high: this.#operand() };
    }
    if (this.#word('IN')) return { kind: 'in', value: left, among: this.#arguments() };
    const by = this.#tokens[this.#at++] ?? '';
    if (!['=', '<>', '<', '<=', '>', '>='].includes(by)) throw this.#unknown();
    return { kind: 'compare', left, by: by as Comparison, right: this.#operand() };
  }

  #operand(): Operand {
    if (this.#call('size')) return { kind: 'size', path: this.#arguments(1)[0] as Operand };
    if (this.#call('if_not_exists')) {
      const [path, otherwise] = this.#arguments(2) as [Operand, Operand];
      return { kind: 'if_not_exists', path, otherwise };
    }
    const text = this.#tokens[this.#at++] ?? '';
    if (!/^[#:]?[A-Za-z_]/.test(text) || this.#tokens[this.#at] === '(') throw this.#unknown();
    return { kind: text.startsWith(':') ? 'value' : 'path', text };
  }

  /** So many operands in brackets; without a number, any. */
  #arguments(count?: number): Operand[] {
    this.#expect('(');
    const found = [this.#operand()];
    while (this.#take(',')) found.push(this.#operand());
    this.#expect(')');
    if (count !== undefined && found.length !== count) throw this.#unknown();
    return found;
  }

  #call(name: string): boolean {
    return this.#tokens[this.#at + 1] === '(' && this.#word(name);
  }

  #word(word: string): boolean {
    if (this.#tokens[this.#at]?.toUpperCase() !== word.toUpperCase()) return false;
    this.#at++;
    return true;
  }

  #take(token: string): boolean {
    if (this.#tokens[this.#at] !== token) return false;
    this.#at++;
    return true;
  }

  #expect(token: string): void {
    if (!this.#take(token)) throw this.#unknown();
  }

  #unknown(): Error {
    return new Error(`the simulated DynamoDB does not know this expression: ${this.#text}`);
  }
}

function tokens(text: string): string[] {
  const found: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const match = TOKEN.exec(text);
    if (match === null) throw new Error(`the simulated DynamoDB cannot read this expression: ${text}`);
    found.push(match[1] ?? match[2] ?? '');
  }
  return found;
}
