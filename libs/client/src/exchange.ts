import type { Clock, Outcome, Sleeper } from '@tidemark/libs-kernel';
import { parseInt64 } from '@tidemark/libs-wire';
import { ServiceError } from './service-error.ts';

/** One request to a service. */
export interface Ask {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Behind the service's URL, with the query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Statuses beside 2xx that are answers, not refusals. */
  readonly answers?: readonly number[];
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

export interface Wire {
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  readonly sleeper: Sleeper;
}

/** Sends the request once. Whatever is no answer becomes a ServiceError that says what is known of the work. */
export async function exchange(wire: Wire, url: string, ask: Ask): Promise<Answer> {
  const answer = await attempted(ask.signal, (signal) =>
    within(wire.sleeper, ask.timeoutMs, fetched(wire, url, ask, signal).then(whole)),
  );
  if ((answer.status >= 200 && answer.status < 300) || ask.answers?.includes(answer.status)) return answer;
  throw refused(answer, wire.clock);
}

/** The head of the answer; its body may go on for long. */
export function fetched(wire: Wire, url: string, ask: Ask, signal: AbortSignal): Promise<Response> {
  const { method, headers = {}, body } = ask;
  return wire.fetch(url, { method, headers, signal, ...(body !== undefined && { body }) });
}

export async function whole(response: Response): Promise<Answer> {
  return { status: response.status, headers: response.headers, body: new Uint8Array(await response.arrayBuffer()) };
}

/** Work on one request, which is given up when the work ends or the caller's signal aborts. */
async function attempted<T>(given: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  if (given?.aborted) throw aborted(given, 'not-done');
  const leave = new AbortController();
  try {
    return await work(given === undefined ? leave.signal : AbortSignal.any([given, leave.signal]));
  } catch (thrown) {
    throw failure(thrown, given);
  } finally {
    leave.abort();
  }
}

/** The work's result, or a ServiceError when it takes longer. */
export async function within<T>(sleeper: Sleeper, ms: number, work: Promise<T>): Promise<T> {
  const ended = new AbortController();
  const late = sleeper.sleep(ms, ended.signal).then((): never => {
    throw new ServiceError(`no answer within ${ms} ms`, { status: null, outcome: 'unknown' });
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    late.catch(() => undefined);
    ended.abort();
  }
}

export function failure(thrown: unknown, given: AbortSignal | undefined): ServiceError {
  if (given?.aborted) return aborted(given, 'unknown');
  return thrown instanceof ServiceError ? thrown : unanswered(thrown);
}

/** The caller gave up; a request that was under way may still be carried out. */
export function aborted(signal: AbortSignal, outcome: Outcome): ServiceError {
  return new ServiceError('aborted', { status: null, outcome, cause: signal.reason });
}

/** Nothing was sent when there was no connection to send it on. */
const UNSENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);

function unanswered(thrown: unknown): ServiceError {
  const { cause, message } = thrown as { cause?: { code?: string; message?: string }; message?: string };
  const outcome = UNSENT.has(cause?.code ?? '') ? 'not-done' : 'unknown';
  const reason = cause?.message ?? message ?? '';
  return new ServiceError(`no answer: ${reason}`, { status: null, outcome, cause: thrown });
}

export function refused({ status, headers, body }: Answer, clock: Clock): ServiceError {
  const reason = reasonIn(new TextDecoder().decode(body));
  const retryAfterMs = retryAfter(headers.get('retry-after'), clock);
  const outcome = statedOutcome(headers) ?? impliedOutcome(status);
  const head = parseInt64(headers.get('tidemark-head') ?? '') ?? undefined;
  const message = `status ${status}${reason === '' ? '' : `: ${reason}`}`;
  return new ServiceError(message, { status, outcome, retryAfterMs, head });
}

const REASON_CHARS_MAX = 512;

/** `{"error":"..."}`, or a text for people. */
function reasonIn(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    if (typeof error === 'string') return error.slice(0, REASON_CHARS_MAX);
  } catch {
    // A text.
  }
  return text.slice(0, REASON_CHARS_MAX);
}

const OUTCOMES: readonly string[] = ['not-done', 'partly', 'done', 'unknown'] satisfies Outcome[];

function statedOutcome(headers: Headers): Outcome | null {
  const stated = headers.get('tidemark-outcome');
  return stated !== null && OUTCOMES.includes(stated) ? (stated as Outcome) : null;
}

/** What a status says where no service of ours says more: a proxy's, or an older relay's. */
function impliedOutcome(status: number): Outcome {
  return status >= 400 && status < 500 && status !== 408 ? 'not-done' : 'unknown';
}

/** Whole seconds, or a date. */
function retryAfter(value: string | null, clock: Clock): number | undefined {
  if (value === null) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - clock.now());
}
