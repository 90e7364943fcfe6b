import type { Clock, Outcome, Sleeper } from '@tidemark/libs-kernel';
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
  if (ask.signal?.aborted) throw aborted(ask.signal, 'not-done');
  const ended = new AbortController();
  const late = new AbortController();
  void wire.sleeper.sleep(ask.timeoutMs, ended.signal).then(() => ended.signal.aborted || late.abort());
  try {
    const answer = await whole(wire, url, ask, late.signal);
    if ((answer.status >= 200 && answer.status < 300) || ask.answers?.includes(answer.status)) return answer;
    throw refused(answer, wire.clock);
  } catch (thrown) {
    if (thrown instanceof ServiceError) throw thrown;
    if (ask.signal?.aborted) throw aborted(ask.signal, 'unknown');
    throw unanswered(thrown, late.signal.aborted ? `no answer within ${ask.timeoutMs} ms` : 'no answer');
  } finally {
    ended.abort();
  }
}

async function whole(wire: Wire, url: string, ask: Ask, late: AbortSignal): Promise<Answer> {
  const signal = ask.signal === undefined ? late : AbortSignal.any([ask.signal, late]);
  const { method, headers = {}, body } = ask;
  const response = await wire.fetch(url, { method, headers, signal, ...(body !== undefined && { body }) });
  return { status: response.status, headers: response.headers, body: new Uint8Array(await response.arrayBuffer()) };
}

/** The caller gave up; a request that was under way may still be carried out. */
export function aborted(signal: AbortSignal, outcome: Outcome): ServiceError {
  return new ServiceError('aborted', { status: null, outcome, cause: signal.reason });
}

/** Nothing was sent when there was no connection to send it on. */
const UNSENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);

function unanswered(thrown: unknown, what: string): ServiceError {
  const { cause, message } = thrown as { cause?: { code?: string; message?: string }; message?: string };
  const outcome = UNSENT.has(cause?.code ?? '') ? 'not-done' : 'unknown';
  return new ServiceError(`${what}: ${cause?.message ?? message ?? ''}`, { status: null, outcome, cause: thrown });
}

export function refused({ status, headers, body }: Answer, clock: Clock): ServiceError {
  const reason = reasonIn(new TextDecoder().decode(body));
  const retryAfterMs = retryAfter(headers.get('retry-after'), clock);
  const outcome = statedOutcome(headers) ?? impliedOutcome(status);
  return new ServiceError(`status ${status}${reason === '' ? '' : `: ${reason}`}`, {
    status,
    outcome,
    retryAfterMs,
    body,
  });
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
