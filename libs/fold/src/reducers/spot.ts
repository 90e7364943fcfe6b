import { Fault } from '@tidemark/libs-kernel';

/** A place in a declaration: every problem names its file and its JSON pointer. */
export class Spot {
  readonly value: unknown;
  readonly #file: string;
  readonly #pointer: string;

  constructor(value: unknown, file: string, pointer = '') {
    this.value = value;
    this.#file = file;
    this.#pointer = pointer;
  }

  fail(problem: string): never {
    throw new Fault('misconfigured', `${this.#file}: ${this.#pointer === '' ? '/' : this.#pointer}: ${problem}`);
  }

  /** The members of an object, in their order. */
  entries(): readonly (readonly [string, Spot])[] {
    if (!isObject(this.value)) this.fail('expected an object');
    return Object.entries(this.value).map(([name, value]) => [name, this.below(name, value)]);
  }

  /** The members of an object that has all of `required`, and beyond them nothing but some of `optional`. */
  members<R extends string, O extends string = never>(
    required: readonly R[],
    optional: readonly O[] = [],
  ): Readonly<Record<R, Spot>> & Readonly<Partial<Record<O, Spot>>> {
    const members = Object.fromEntries(this.entries());
    const known: readonly string[] = [...required, ...optional];
    for (const [name, spot] of Object.entries(members)) if (!known.includes(name)) spot.fail('unknown key');
    for (const name of required) if (!Object.hasOwn(members, name)) this.fail(`${name} is missing`);
    return members as Record<R, Spot> & Partial<Record<O, Spot>>;
  }

  /** The one member of an object that has one, by a name that is known. */
  only<N extends string>(names: readonly N[]): readonly [N, Spot] {
    const members = this.members([], names);
    const [name, ...more] = Object.keys(members) as N[];
    if (name === undefined || more.length > 0) this.fail(`expected one of ${names.join(', ')}`);
    return [name, members[name] as Spot];
  }

  items(): readonly Spot[] {
    if (!Array.isArray(this.value)) this.fail('expected an array');
    return this.value.map((value: unknown, at) => this.below(String(at), value));
  }

  filledItems(): readonly Spot[] {
    const items = this.items();
    return items.length > 0 ? items : this.fail('expected an array that is not empty');
  }

  text(): string {
    if (typeof this.value !== 'string') this.fail('expected a string');
    return this.value;
  }

  filledText(): string {
    return this.text() || this.fail('expected a string that is not empty');
  }

  oneOf<T extends string>(names: readonly T[]): T {
    return names.find((name) => name === this.value) ?? this.fail(`expected one of ${names.join(', ')}`);
  }

  integer(min = Number.MIN_SAFE_INTEGER): number {
    if (!Number.isSafeInteger(this.value)) this.fail('expected an integer within ±(2^53 - 1)');
    const integer = this.value as number;
    return integer >= min ? integer : this.fail(`expected an integer of at least ${min}`);
  }

  isTrue(): true {
    return this.value === true || this.fail('expected true');
  }

  isObject(): boolean {
    return isObject(this.value);
  }

  /** The place of a member or element. */
  below(name: string, value: unknown): Spot {
    return new Spot(value, this.#file, `${this.#pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
