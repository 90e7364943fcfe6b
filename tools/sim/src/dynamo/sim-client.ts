import type { DynamoClient } from '@tidemark/libs-op-store-dynamodb';
import type { SimProcess } from '../scheduler/sim-process.ts';
import type { SimEvent } from '../scheduler/scheduler.ts';
import { type Answer, type Request, answerText } from './request.ts';
import type { SimDynamo } from './sim-dynamo.ts';

/** As connectDynamodb sets the SDK: the bound of one attempt, and how many there are. */
const ATTEMPT_MS = 5000;
const ATTEMPTS_MAX = 3;
const RETRY_MS: readonly [number, number] = [0, 200];

/** What the SDK tries again by itself. */
const RETRIED =
  /^(InternalServerError|ThrottlingException|ProvisionedThroughputExceededException|TransactionInProgressException|RequestLimitExceeded|LimitExceededException)$/;

/** A command as the SDK's clients take it. */
interface Command {
  readonly input: object;
}

/**
 * The SDK's part, between code under test and the simulated database: attempts, their bound, retries with the same ClientRequestToken.
 * Of one process; when it crashes, no call comes back any more, though what was sent still arrives.
 */
export class SimClient {
  readonly #dynamo: SimDynamo;
  readonly #process: SimProcess;
  #calls = 0;

  constructor(dynamo: SimDynamo, process: SimProcess) {
    this.#dynamo = dynamo;
    this.#process = process;
  }

  send(command: Command, options: { readonly abortSignal?: AbortSignal } = {}): Promise<Record<string, unknown>> {
    if (!this.#process.alive) return new Promise(() => {});
    const operation = command.constructor.name.replace(/Command$/, '');
    const name = `${this.#process.name} ${operation} ${++this.#calls}`;
    return new Promise((resolve, reject) => {
      new Call(this.#dynamo, this.#process, operation, name, inputOf(command, operation, name), options.abortSignal, {
        resolve,
        reject,
      });
    });
  }
}

/** The client under the type that the adapter asks for. */
export const clientOf = (dynamo: SimDynamo, process: SimProcess): DynamoClient =>
  new SimClient(dynamo, process) as unknown as DynamoClient;

/** The SDK makes up a token where none is given. */
function inputOf(command: Command, operation: string, name: string): Record<string, unknown> {
  const input = { ...command.input } as Record<string, unknown>;
  if (operation === 'TransactWriteItems') input['ClientRequestToken'] ??= name.replace('TransactWriteItems', 'sdk');
  return input;
}

interface Settle {
  readonly resolve: (output: Record<string, unknown>) => void;
  readonly reject: (error: Error) => void;
}

class Call {
  readonly #dynamo: SimDynamo;
  readonly #process: SimProcess;
  readonly #operation: string;
  readonly #name: string;
  readonly #input: Record<string, unknown>;
  readonly #settle: Settle;
  #attempt = 0;
  #settled = false;
  #bound: SimEvent | undefined;

  constructor(
    dynamo: SimDynamo,
    process: SimProcess,
    operation: string,
    name: string,
    input: Record<string, unknown>,
    signal: AbortSignal | undefined,
    settle: Settle,
  ) {
    this.#dynamo = dynamo;
    this.#process = process;
    this.#operation = operation;
    this.#name = name;
    this.#input = input;
    this.#settle = settle;
    signal?.addEventListener('abort', () => this.#fail(aborted()), { once: true });
    if (signal?.aborted === true) this.#fail(aborted());
    else if (dynamo.scheduler.ordering === 'free') this.#sendFreely();
    else this.#sendAttempt();
  }

  /** One attempt that arrives at any time; where the explorer is at liberty to, after its caller gave it up. */
  #sendFreely(): void {
    const { scheduler, liberties } = this.#dynamo;
    const givingUp =
      this.#operation === 'TransactWriteItems' && liberties.lateRequests > 0
        ? scheduler.wake(0, `${this.#name} is given up`, () => {
            if (liberties.lateRequests-- > 0) this.#fail(timedOut());
          })
        : undefined;
    scheduler.wake(0, this.#name, () => {
      if (givingUp !== undefined) givingUp.cancelled = true;
      this.#dynamo.receive(this.#request((answer) => this.#take(answer)));
    });
  }

  #sendAttempt(): void {
    const { scheduler, weather, anomalies } = this.#dynamo;
    const attempt = ++this.#attempt;
    const request = this.#request((answer) => {
      this.#process.wake(scheduler.between(weather.answerMs), `${this.#name} is answered`, () => {
        // The connection of an attempt that ran out of time is closed.
        if (attempt === this.#attempt) this.#take(answer);
      });
    });
    const arrive = () => {
      if (attempt > 1) anomalies.repeatedRequest++;
      this.#dynamo.receive(request);
    };
    if (!this.#dynamo.misfortune(weather.lostRequest)) {
      const late = this.#dynamo.misfortune(weather.lateRequest) ? scheduler.between(weather.lateMs) : 0;
      scheduler.happen(scheduler.between(weather.requestMs) + late, `${this.#name} arrives`, arrive);
    }
    if (this.#dynamo.misfortune(weather.twiceDelivered)) this.#deliverAgain(request);
    this.#bound = this.#process.wake(ATTEMPT_MS, `${this.#name} runs out of time`, () => {
      if (this.#attempt < ATTEMPTS_MAX) this.#sendAttempt();
      else this.#fail(timedOut());
    });
  }

  #deliverAgain(request: Request): void {
    const { scheduler, weather, anomalies } = this.#dynamo;
    const delayMs = scheduler.between([weather.requestMs[0], 20 * weather.requestMs[1]]);
    scheduler.happen(delayMs, `${this.#name} arrives again`, () => {
      anomalies.repeatedRequest++;
      this.#dynamo.receive({ ...request, reply: () => {} });
    });
  }

  #request(reply: (answer: Answer) => void): Request {
    const abandoned = () => this.#settled || !this.#process.alive;
    const from = this.#process.name;
    return { operation: this.#operation, input: this.#input, name: this.#name, from, abandoned, reply };
  }

  #take(answer: Answer): void {
    if (this.#settled) return;
    if (this.#bound !== undefined) this.#bound.cancelled = true;
    if (answer.kind === 'output') {
      this.#end(answer, () => this.#settle.resolve(answer.output));
    } else if (this.#attempt > 0 && this.#attempt < ATTEMPTS_MAX && RETRIED.test(answer.error.name)) {
      const { scheduler } = this.#dynamo;
      scheduler.happen(scheduler.between(RETRY_MS), `${this.#name} is tried again`, () => {
        if (!this.#settled && this.#process.alive) this.#sendAttempt();
      });
    } else {
      this.#fail(answer.error);
    }
  }

  #fail(error: Error & { $metadata?: object }): void {
    if (this.#settled) return;
    error.$metadata = { ...error.$metadata, attempts: Math.max(1, this.#attempt) };
    if (this.#bound !== undefined) this.#bound.cancelled = true;
    this.#end({ kind: 'error', error }, () => this.#settle.reject(error));
  }

  #end(answer: Answer, settle: () => void): void {
    this.#settled = true;
    if (!this.#process.alive) return;
    this.#process.hear(() => `${this.#name} ${answerText(answer)}`);
    settle();
  }
}

const named = (name: string, message: string) => Object.assign(new Error(message), { name });
const timedOut = () => named('TimeoutError', 'Connection timed out');
const aborted = () => named('AbortError', 'Request aborted');
