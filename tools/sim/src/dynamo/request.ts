import type { CancellationReason } from './errors.ts';
import { type Item, itemText } from './item.ts';

/** A call's way to the database: one attempt of it, as it arrived. */
export interface Request {
  readonly operation: string;
  readonly input: Record<string, unknown>;
  /** The calling process and the number of its call. */
  readonly name: string;
  /** The calling process. */
  readonly from: string;
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
export function onlyKnown(input: Record<string, unknown>, known: ReadonlySet<string>): void {
  for (const name in input)
    if (input[name] !== undefined && !known.has(name))
      throw new Error(`the simulated DynamoDB does not know the input ${name}`);
}

/** What an actor hears of an answer, as a text that is equal for equal answers; see itemText. */
export function answerText(answer: Answer): string {
  if (answer.kind === 'error') {
    const { name, CancellationReasons = [] } = answer.error as Error & {
      CancellationReasons?: readonly CancellationReason[];
    };
    return `${name} ${CancellationReasons.map(({ Code, Item }) => `${Code} ${itemText(Item ?? null)}`).join(';')}`;
  }
  const { Items = [], Responses = [], Item, Attributes, LastEvaluatedKey } = answer.output as ReadOutput;
  const items = [...Items, ...Responses.map((one) => one.Item), Item, Attributes];
  return (
    items.map((item) => `${item?.['seq']?.N}=${itemText(item ?? null)}`).join(';') +
    (LastEvaluatedKey?.['seq']?.N ?? '')
  );
}

interface ReadOutput {
  readonly Items?: readonly Item[];
  readonly Responses?: readonly { readonly Item?: Item }[];
  readonly Item?: Item;
  readonly Attributes?: Item;
  readonly LastEvaluatedKey?: Item;
}
