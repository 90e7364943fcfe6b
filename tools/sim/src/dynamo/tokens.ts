import { DynamoError } from './errors.ts';

/** How long DynamoDB remembers the token of a transaction. */
const REMEMBERED_MS = 10 * 60 * 1000;

interface Known {
  readonly parameters: unknown;
  state: 'in flight' | 'done';
  untilMs: number;
}

export type TokenVerdict = 'new' | 'done before';

/**
 * ClientRequestToken: a repeat of a transaction that succeeded answers success and does nothing. One that was cancelled leaves no trace,
 * so that its repeat is judged anew.
 */
export class Tokens {
  readonly #known = new Map<string, Known>();

  /** Throws where DynamoDB refuses the token. */
  begin(token: string, parameters: unknown, nowMs: number): TokenVerdict {
    const known = this.#known.get(token);
    if (known === undefined || (known.state === 'done' && known.untilMs <= nowMs)) {
      this.#known.set(token, { parameters, state: 'in flight', untilMs: Infinity });
      return 'new';
    }
    if (known.parameters !== parameters && JSON.stringify(known.parameters) !== JSON.stringify(parameters))
      throw new DynamoError('IdempotentParameterMismatchException', 'a token came with another request before');
    if (known.state === 'in flight')
      throw new DynamoError('TransactionInProgressException', 'the transaction with this token is in progress');
    return 'done before';
  }

  succeeded(token: string, nowMs: number): void {
    const known = this.#known.get(token);
    if (known !== undefined) Object.assign(known, { state: 'done', untilMs: nowMs + REMEMBERED_MS });
  }

  failed(token: string): void {
    this.#known.delete(token);
  }

  get fingerprint(): string {
    return [...this.#known].map(([token, { state }]) => `${token} ${state}`).join();
  }
}
