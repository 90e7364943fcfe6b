import type { Frame } from './scope.ts';
import type { Spot } from './spot.ts';
import { type Pieces, textOf } from './template.ts';

export interface Resolved<T> {
  readonly name: (frame: Frame) => string;
  /** Of a name that `name` has given. */
  readonly meaning: (name: string) => T;
  /** All that it may be. */
  readonly meanings: readonly T[];
}

/**
 * Declared names of kinds or fields: whole ones, and those that end in `*` and stand for all names that begin so. No name is declared twice,
 * so a template leads to one declaration whatever the op holds.
 */
export class Names<T> {
  readonly #whole = new Map<string, T>();
  readonly #beginnings = new Map<string, T>();

  constructor(declared: readonly (readonly [string, Spot, T])[]) {
    for (const [name, spot, meaning] of declared) {
      const clash = declared.find(([other]) => other !== name && overlap(name, other));
      if (clash) spot.fail(`${clash[0]} stands for the same names`);
      if (name.endsWith('*')) this.#beginnings.set(name.slice(0, -1), meaning);
      else this.#whole.set(name, meaning);
    }
  }

  /** What a template leads to. */
  resolve(spot: Spot, pieces: Pieces): Resolved<T> {
    const name = textOf(spot, pieces);
    const whole = everyText(pieces);
    if (whole === null) {
      const meaning = this.#ofBeginning(spot, beginningOf(pieces));
      return { name, meaning: () => meaning, meanings: [meaning] };
    }
    const byName = new Map(whole.map((one) => [one, this.#of(spot, one)]));
    return { name, meaning: (one) => byName.get(one) as T, meanings: [...byName.values()] };
  }

  #of(spot: Spot, name: string): T {
    const meaning = this.#whole.get(name) ?? this.#beginning(name);
    return meaning ?? spot.fail(`${name} is not declared in documents`);
  }

  #ofBeginning(spot: Spot, beginning: string): T {
    return this.#beginning(beginning) ?? spot.fail(`${beginning}* is not declared in documents`);
  }

  #beginning(name: string): T | undefined {
    return [...this.#beginnings].find(([beginning]) => name.startsWith(beginning))?.[1];
  }
}

export function overlap(a: string, b: string): boolean {
  const [begins, other] = a.endsWith('*') ? [a, b] : [b, a];
  if (!begins.endsWith('*')) return a === b;
  const beginning = begins.slice(0, -1);
  return other.startsWith(beginning) || (other.endsWith('*') && beginning.startsWith(other.slice(0, -1)));
}

/** All texts that the template can give, when `when` bounds each of its names. */
function everyText(pieces: Pieces): readonly string[] | null {
  let texts: readonly string[] = [''];
  for (const piece of pieces) {
    const nexts = typeof piece === 'string' ? [piece] : piece.allowed;
    if (nexts === null) return null;
    texts = texts.flatMap((text) => nexts.map((next) => text + next));
  }
  return texts;
}

function beginningOf(pieces: Pieces): string {
  const [first] = pieces;
  return typeof first === 'string' ? first : '';
}
