import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { compareValues, integer, type Item } from './item.ts';

/** What stands beside an expression in a command. */
export interface Placeholders {
  readonly ExpressionAttributeNames?: Record<string, string> | undefined;
  readonly ExpressionAttributeValues?: Record<string, AttributeValue> | undefined;
}

/** An attribute's name, or a value's placeholder, as it is written. */
export type Operand = { readonly kind: 'path' | 'value'; readonly text: string };
export type Comparison = '=' | '<>' | '<' | '<=' | '>' | '>=';

export type Condition =
  | { readonly kind: 'and' | 'or'; readonly left: Condition; readonly right: Condition }
  | { readonly kind: 'not'; readonly inner: Condition }
  | { readonly kind: 'exists' | 'not-exists'; readonly path: Operand }
  | { readonly kind: 'compare'; readonly left: Operand; readonly by: Comparison; readonly right: Operand }
  | { readonly kind: 'between'; readonly value: Operand; readonly low: Operand; readonly high: Operand };

export type Assignment = { readonly by: 'set' | 'add'; readonly path: Operand; readonly value: Operand };

const conditions = new Map<string, Condition>();
const updates = new Map<string, readonly Assignment[]>();

/** The subset that this protocol needs. Anything else is an error of the simulator, never a quiet guess. */
export function parseCondition(text: string): Condition {
  return remembered(conditions, text, () => new Parser(text).wholeCondition());
}

export function parseUpdate(text: string): readonly Assignment[] {
  return remembered(updates, text, () => new Parser(text).wholeUpdate());
}

/** Whether the condition holds on the item; a missing attribute compares with nothing. */
export function holds(condition: Condition, item: Item | null, given: Placeholders): boolean {
  switch (condition.kind) {
    case 'and':
      return holds(condition.left, item, given) && holds(condition.right, item, given);
    case 'or':
      return holds(condition.left, item, given) || holds(condition.right, item, given);
    case 'not':
      return !holds(condition.inner, item, given);
    case 'exists':
      return valueOf(condition.path, item, given) !== undefined;
    case 'not-exists':
      return valueOf(condition.path, item, given) === undefined;
    case 'compare':
      return compares(condition.left, condition.by, condition.right, item, given);
    case 'between':
      return (
        compares(condition.value, '>=', condition.low, item, given) &&
        compares(condition.value, '<=', condition.high, item, given)
      );
  }
}

/** The item after the update; `key` holds the attributes of an item that is not there yet. */
export function updated(text: string, item: Item | null, key: Item, given: Placeholders): Item {
  const after: Record<string, AttributeValue> = { ...(item ?? key) };
  for (const { by, path, value } of parseUpdate(text)) {
    const name = nameOf(path, given);
    const operand = valueOf(value, item, given);
    if (operand === undefined) throw new Error(`${text}: ${value.text} has no value`);
    after[name] = by === 'set' ? operand : { N: String(integer(item?.[name]?.N ?? '0') + integer(operand.N ?? '')) };
  }
  return after;
}

export function nameOf(path: Operand, given: Placeholders): string {
  if (path.kind !== 'path') throw new Error(`${path.text} is no attribute`);
  if (!path.text.startsWith('#')) return path.text;
  const name = given.ExpressionAttributeNames?.[path.text];
  if (name === undefined) throw new Error(`${path.text} is not among the names`);
  return name;
}

export function valueOf(operand: Operand, item: Item | null, given: Placeholders): AttributeValue | undefined {
  if (operand.kind === 'path') return item?.[nameOf(operand, given)];
  const value = given.ExpressionAttributeValues?.[operand.text];
  if (value === undefined) throw new Error(`${operand.text} is not among the values`);
  return value;
}

function compares(left: Operand, by: Comparison, right: Operand, item: Item | null, given: Placeholders): boolean {
  const [a, b] = [valueOf(left, item, given), valueOf(right, item, given)];
  if (a === undefined || b === undefined) return false;
  const order = compareValues(a, b);
  if (order === null) return by === '<>';
  switch (by) {
    case '=':
      return order === 0;
    case '<>':
      return order !== 0;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
  }
}

function remembered<T>(known: Map<string, T>, text: string, parse: () => T): T {
  const found = known.get(text) ?? parse();
  known.set(text, found);
  return found;
}

const TOKEN = /\s*(?:(<>|<=|>=|[=<>(),])|([#:]?[A-Za-z_][A-Za-z0-9_]*))/y;

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
      const by = this.#word('SET') ? 'set' : this.#word('ADD') ? 'add' : null;
      if (by === null) throw this.#unknown();
      do {
        const path = this.#operand();
        if (by === 'set') this.#expect('=');
        assignments.push({ by, path, value: this.#operand() });
      } while (this.#take(','));
    }
    return assignments;
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
    ] as const) {
      if (!this.#word(name)) continue;
      this.#expect('(');
      const path = this.#operand();
      this.#expect(')');
      return { kind, path };
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
    const by = this.#tokens[this.#at++] ?? '';
    if (!['=', '<>', '<', '<=', '>', '>='].includes(by)) throw this.#unknown();
    return { kind: 'compare', left, by: by as Comparison, right: this.#operand() };
  }

  #operand(): Operand {
    const text = this.#tokens[this.#at++] ?? '';
    if (!/^[#:]?[A-Za-z_]/.test(text) || this.#tokens[this.#at] === '(') throw this.#unknown();
    return { kind: text.startsWith(':') ? 'value' : 'path', text };
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
