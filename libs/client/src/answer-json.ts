import { Fault } from '@tidemark/libs-kernel';
import { JsonNumber, JsonObject, type JsonValue, decodeUtf8, parseInt64, readJson } from '@tidemark/libs-wire';

/** Members of an answer, read without loss; a Fault 'invalid' for one of another type. */
export class Members {
  readonly #members: ReadonlyMap<string, JsonValue>;

  constructor(value: JsonValue) {
    if (!(value instanceof JsonObject)) throw new Fault('invalid', 'expected an object');
    this.#members = value.members;
  }

  static of(body: Uint8Array): Members {
    return new Members(readJson(decodeUtf8(body)));
  }

  has(name: string): boolean {
    return this.#members.has(name);
  }

  value(name: string): JsonValue {
    return this.#members.get(name) ?? null;
  }

  text(name: string): string {
    const value = this.value(name);
    return typeof value === 'string' ? value : wrong(name, 'a string');
  }

  textOrNull(name: string): string | null {
    return this.value(name) === null ? null : this.text(name);
  }

  int64(name: string): bigint {
    const value = this.value(name);
    return (value instanceof JsonNumber ? parseInt64(value.text) : null) ?? wrong(name, 'a 64-bit integer');
  }

  /** A count; exact below 2^53. */
  count(name: string): number {
    return Number(this.int64(name));
  }

  truth(name: string): boolean {
    const value = this.value(name);
    return typeof value === 'boolean' ? value : wrong(name, 'true or false');
  }

  object(name: string): Members {
    return new Members(this.value(name));
  }

  entries(): Iterable<[string, JsonValue]> {
    return this.#members.entries();
  }

  list(name: string): Members[] {
    const value = this.value(name);
    return Array.isArray(value) ? value.map((element) => new Members(element)) : wrong(name, 'an array');
  }
}

function wrong(name: string, expected: string): never {
  throw new Fault('invalid', `${name}: expected ${expected}`);
}
