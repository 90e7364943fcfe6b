/** A JSON document without loss: numbers stay the digits they were written with, objects keep every key in a Map. */
export type JsonValue = null | boolean | string | JsonNumber | JsonValue[] | JsonObject;

/** A number as its source token: `1.0`, `1e400`, `-0` and 63-bit integers stay what they are. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Keys are Map keys, so `__proto__` and `constructor` are keys like any other. */
export class JsonObject {
  /** In order of first appearance; of a repeated key the last value. */
  readonly members: ReadonlyMap<string, JsonValue>;
  /** Keys that the source holds more than once, each named once. */
  readonly repeated: readonly string[];

  constructor(members: ReadonlyMap<string, JsonValue>, repeated: readonly string[] = []) {
    this.members = members;
    this.repeated = repeated;
  }
}
