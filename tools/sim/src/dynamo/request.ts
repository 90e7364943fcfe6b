/** A call's way to the database: one attempt of it, as it arrived. */
export interface Request {
  readonly operation: string;
  readonly input: Record<string, unknown>;
  /** The calling process and the number of its call. */
  readonly name: string;
  /** Nobody waits for the answer any more: the caller gave up, or is gone. */
  readonly abandoned: () => boolean;
  readonly reply: (answer: Answer) => void;
}

export type Answer =
  | { readonly kind: 'output'; readonly output: Record<string, unknown> }
  | { readonly kind: 'error'; readonly error: Error };

export const output = (value: Record<string, unknown>): Answer => ({
  kind: 'output',
  output: { ...value, $metadata: {} },
});
export const failure = (error: unknown): Answer => ({ kind: 'error', error: error as Error });

/** The simulator is strict: an input that it does not know might mean something to DynamoDB. */
export function onlyKnown(input: Record<string, unknown>, known: readonly string[]): void {
  const unknown = Object.keys(input).filter((name) => input[name] !== undefined && !known.includes(name));
  if (unknown.length > 0) throw new Error(`the simulated DynamoDB does not know these inputs: ${unknown.join(', ')}`);
}
