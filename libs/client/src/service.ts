import { type BackoffShape, Fault, type Outcome, backoffMs } from '@tidemark/libs-kernel';
import { type Answer, type Ask, aborted, exchange } from './exchange.ts';
import { ServiceError } from './service-error.ts';
import type { World } from './world.ts';

export interface RetryRules {
  /** Requests in a row, the first one counted. */
  readonly attemptsMax: number;
  /** No attempt begins later than this after the first one did. */
  readonly giveUpAfterMs: number;
  readonly backoff: BackoffShape;
}

export interface ServiceOptions extends World {
  /** Where the service is. A path stays in front of its routes; credentials (`https://user:secret@host`) are sent as Basic. */
  readonly url: string;
  /** Sent as Bearer, instead of credentials in the URL. */
  readonly token?: string;
  /** How long one request may take, its answer included; default 30 s. A long poll has its wait beside it. */
  readonly timeoutMs?: number;
  /** Default: 8 attempts, for 2 minutes, with jittered waits from 200 ms to 10 s. Each call and each batch of a push counts anew. */
  readonly retry?: Partial<RetryRules>;
}

/** What may differ from call to call. */
export interface CallOptions {
  /** Ends the call: it rejects with a ServiceError whose cause is the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

const TIMEOUT_MS = 30_000;
const RETRY: RetryRules = {
  attemptsMax: 8,
  giveUpAfterMs: 120_000,
  backoff: { baseMs: 200, ceilingMs: 10_000 },
};

export type Request = Omit<Ask, 'timeoutMs'> & { readonly waitMs?: number };

/** One service, asked again while that may help. Every request of the clients is safe to repeat, or says that it is not. */
export class Service {
  readonly world: World;
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #timeoutMs: number;
  readonly #retry: RetryRules;

  constructor(options: ServiceOptions) {
    const url = new URL(options.url);
    this.world = options;
    this.#headers = authorization(url, options.token);
    url.username = url.password = url.search = url.hash = '';
    this.#base = url.href.replace(/\/$/, '');
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    this.#retry = { ...RETRY, ...options.retry };
  }

  /**
   * Sends the request until it is answered, waiting between attempts at least as long as the service asks. `repeats` says after which
   * failures the same request may be sent again; default: whenever that may help. `read` makes a value of the answer, and throws a Fault
   * for one that the service does not give.
   */
  async call<T>(request: Request, read: (answer: Answer) => T, repeats = isTransient): Promise<T> {
    const patience = this.patience(request.signal);
    for (;;) {
      try {
        const answer = await this.send(request);
        return readAs(() => read(answer), answer.status);
      } catch (thrown) {
        await patience.afterFailure(thrown, repeats);
      }
    }
  }

  /** Sends the request once. */
  send(request: Request): Promise<Answer> {
    const ask = this.ask(request);
    return exchange(this.world, ask.url, ask);
  }

  /** What goes over the wire for a request. */
  ask({ waitMs = 0, headers, ...request }: Request): Ask & { readonly url: string } {
    const timeoutMs = this.#timeoutMs + waitMs;
    return { ...request, headers: { ...this.#headers, ...headers }, timeoutMs, url: this.#base + request.path };
  }

  patience(signal: AbortSignal | undefined): Patience {
    return new Patience(this.world, this.#retry, signal);
  }
}

/** The bounded attempts of one call. */
export class Patience {
  readonly #world: World;
  readonly #rules: RetryRules;
  readonly #signal: AbortSignal | undefined;
  readonly #endsAtMs: number;
  #failures = 0;
  #outcome: Outcome = 'not-done';

  constructor(world: World, rules: RetryRules, signal: AbortSignal | undefined) {
    this.#world = world;
    this.#rules = rules;
    this.#signal = signal;
    this.#endsAtMs = world.clock.monotonic() + rules.giveUpAfterMs;
  }

  /** Waits until the next attempt may begin; throws the error, with the outcome of all attempts, when there is to be none. */
  async afterFailure(thrown: unknown, repeats: (error: ServiceError) => boolean, leastMs = 0): Promise<void> {
    if (!(thrown instanceof ServiceError)) throw thrown;
    const { clock, sleeper, random } = this.#world;
    const error = thrown.after(this.#outcome);
    const waitMs = Math.max(backoffMs(this.#failures++, this.#rules.backoff, random), error.retryAfterMs ?? leastMs);
    const late = clock.monotonic() + waitMs > this.#endsAtMs;
    if (this.#signal?.aborted || late || this.#failures >= this.#rules.attemptsMax || !repeats(error)) throw error;
    this.#outcome = error.outcome;
    await sleeper.sleep(waitMs, this.#signal);
    if (this.#signal?.aborted) throw aborted(this.#signal, this.#outcome);
  }
}

export const isTransient = (error: ServiceError) => error.transient;

/** What `read` makes of an answer; a ServiceError when it is none that this service gives: somebody else answered, and would again. */
export function readAs<T>(read: () => T, status: number): T {
  try {
    return read();
  } catch (thrown) {
    if (!(thrown instanceof Fault)) throw thrown;
    const message = `status ${status}, and no answer of this service: ${thrown.message}`;
    throw new ServiceError(message, { status, outcome: 'unknown', cause: thrown });
  }
}

function authorization(url: URL, token: string | undefined): Readonly<Record<string, string>> {
  if (token !== undefined) return { authorization: `Bearer ${token}` };
  if (url.username === '' && url.password === '') return {};
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { authorization: `Basic ${base64(credentials)}` };
}

/** RFC 7617 with UTF-8. */
function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
