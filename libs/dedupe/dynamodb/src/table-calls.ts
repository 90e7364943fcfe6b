import type { ServiceInputTypes, ServiceOutputTypes } from '@aws-sdk/client-dynamodb';
import { nameOf, type DynamoClient, type DynamoCommand } from '@tidemark/libs-driver-dynamodb';
import { type Clock, type Outcome, type Random, type Sleeper, backoffMs } from '@tidemark/libs-kernel';
import { withinDeadline } from './deadline.ts';
import { isPassing, mapError } from './map-error.ts';
import type { DynamodbDedupeMetrics, RequestOutcome, TableOperation } from './metrics.ts';
import type { Item } from './table.ts';

export interface TableCallsOptions {
  readonly client: DynamoClient;
  readonly table: string;
  readonly clock: Clock;
  readonly sleeper: Sleeper;
  readonly random: Random;
  readonly metrics: DynamodbDedupeMetrics;
  /** For a call with all its attempts. */
  readonly timeoutMs: number;
  readonly attemptsMax: number;
}

export type TableAnswer<Output> =
  | { readonly kind: 'done'; readonly output: Output }
  /** A condition of the call did not hold, because of this item. */
  | { readonly kind: 'condition_failed'; readonly held: Item | undefined };

const BACKOFF_BASE_MS = 25;

/**
 * Calls to one table. A call ends within its deadline, which covers every attempt: what passes (throttling, a lost connection) is
 * repeated after a jittered wait, all waits together at most half of the time, so that a throttled call ends with the throttle and not
 * with the deadline. A fault's cause is the last thing that the table was heard to say.
 */
export class TableCalls {
  readonly table: string;
  readonly #options: TableCallsOptions;

  constructor(options: TableCallsOptions) {
    this.table = options.table;
    this.#options = options;
  }

  /** Faults say `outcome`: a call whose answer was lost may have been done. */
  async send<Input extends ServiceInputTypes, Output extends ServiceOutputTypes>(
    operation: TableOperation,
    command: DynamoCommand<Input, Output>,
    outcome: Outcome,
  ): Promise<TableAnswer<Output>> {
    const { clock, metrics } = this.#options;
    const startMs = clock.monotonic();
    const ended = (how: RequestOutcome) => metrics.request(operation, how, clock.monotonic() - startMs);
    try {
      const answer = await this.#attempts(command);
      ended(answer.kind === 'done' ? 'ok' : answer.kind);
      return answer;
    } catch (thrown) {
      const fault = mapError(thrown, this.table, outcome);
      ended(fault.code === 'unavailable' ? 'unavailable' : 'error');
      throw fault;
    }
  }

  async #attempts<Input extends ServiceInputTypes, Output extends ServiceOutputTypes>(
    command: DynamoCommand<Input, Output>,
  ): Promise<TableAnswer<Output>> {
    const { client, sleeper, timeoutMs, attemptsMax } = this.#options;
    let heard: unknown;
    const work = async (late: AbortSignal): Promise<TableAnswer<Output>> => {
      for (let attempt = 1; ; attempt++) {
        try {
          return { kind: 'done', output: await client.send(command, { abortSignal: late }) };
        } catch (thrown) {
          if (nameOf(thrown) === 'ConditionalCheckFailedException')
            return { kind: 'condition_failed', held: heldBy(thrown) };
          if (late.aborted || attempt >= attemptsMax || !isPassing(thrown)) throw thrown;
          heard = thrown;
        }
        await sleeper.sleep(this.#waitMs(attempt), late);
        if (late.aborted) throw heard;
      }
    };
    try {
      return await withinDeadline(sleeper, timeoutMs, work);
    } catch (thrown) {
      throw nameOf(thrown) === 'DeadlinePassed' ? (heard ?? thrown) : thrown;
    }
  }

  #waitMs(attempt: number): number {
    const { timeoutMs, attemptsMax, random } = this.#options;
    const ceilingMs = timeoutMs / (2 * (attemptsMax - 1));
    return backoffMs(attempt - 1, { baseMs: BACKOFF_BASE_MS, ceilingMs }, random);
  }
}

function heldBy(thrown: unknown): Item | undefined {
  return (thrown as { readonly Item?: Item }).Item;
}
