import type { FastifyRequest } from 'fastify';
import { type Clock, Fault } from '@tidemark/libs-kernel';
import type { Answer } from '../answer.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { hasEmptySegment } from '../unknown-routes.ts';
import { type Access, type Need, type RouteRequest, describeNeed, mayDo } from './access.ts';
import type { Authenticator, Caller } from './authenticator.ts';
import { readCredentials } from './credentials.ts';

/** Judges a request before its body is read: an answer refuses it. */
export type Guard = (request: FastifyRequest, word: (fault: Fault) => Answer) => Promise<Answer | undefined>;

export interface GuardParts {
  readonly authenticator: Authenticator;
  readonly access: Access;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

const CHALLENGE = 'Bearer realm="tidemark", Basic realm="tidemark", charset="UTF-8"';
const CHALLENGE_INVALID = CHALLENGE.replace(',', ', error="invalid_token",');

/** A prober has no credentials, nor has who is about to write a client; what they learn is no secret. */
const OPEN = new Set(['/livez', '/readyz', '/v1/openapi.json']);
const METRICS: Need = { action: 'admin', tenant: null, stream: null };

/** How old the judgement of an answer that goes on may be. */
const JUDGED_MS = 1000;

/** Who sent a request, when it was judged last, and whether it passes since then. */
interface Judged {
  readonly caller: Caller;
  readonly stillAllowed: (request: FastifyRequest, judged: Judged) => Promise<boolean>;
  atMs: number;
  passes: boolean | Promise<boolean>;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** undefined where nobody is asked, and before. */
    judged: Judged | undefined;
  }
}

/** Who sent the request, with all that is known of it; null where nobody is asked. */
export function identityOf({ judged }: FastifyRequest): Caller | null {
  return judged?.caller ?? null;
}

/** Its name alone. */
export function callerOf({ judged }: FastifyRequest): string | null {
  return judged?.caller.name ?? null;
}

/**
 * Whether the request would pass now, or would have a second ago: for an answer that goes on after its request was judged. Fault
 * `unavailable` when that cannot be told. Where nobody is asked it is true.
 */
export async function stillAllowed(request: FastifyRequest): Promise<boolean> {
  const { judged } = request;
  return judged === undefined || judged.stillAllowed(request, judged);
}

type Judgement =
  | { readonly kind: 'passed'; readonly caller: Caller }
  /** `reason` null: no credentials came. */
  | { readonly kind: 'unauthenticated'; readonly reason: string | null }
  | { readonly kind: 'lacking'; readonly caller: Caller; readonly lack: string };

/** Asks who sends the request (401), then whether it may do that (403). */
export function guardOf({ authenticator, access, clock, log, metrics }: GuardParts): Guard {
  const refusals = metrics.counter('tidemark_auth_refused_total', 'Requests refused for who sent them.', ['status']);

  const judge = async (request: FastifyRequest): Promise<Judgement> => {
    const credentials = readCredentials(request.headers.authorization);
    if (credentials.kind === 'none') return { kind: 'unauthenticated', reason: null };
    if (credentials.kind === 'unreadable') return { kind: 'unauthenticated', reason: 'neither Bearer nor Basic' };
    const verdict = await authenticator.authenticate(credentials.token);
    if (verdict.kind === 'refused') return { kind: 'unauthenticated', reason: verdict.reason };
    const { caller } = verdict;
    const route = request.routeOptions.url ?? '';
    const need = route === '/metrics' ? METRICS : access(routeRequest(request, route));
    if (need !== undefined && mayDo(caller.grants, need)) return { kind: 'passed', caller };
    const lack = need === undefined ? 'nobody may use this route' : `no grant for ${describeNeed(need)}`;
    return { kind: 'lacking', caller, lack };
  };

  const unauthenticated = (request: FastifyRequest, word: (fault: Fault) => Answer, reason: string | null): Answer => {
    refusals.inc({ status: '401' });
    if (reason !== null) log.info({ request_id: request.id, reason }, 'credentials refused');
    const answer = word(
      new Fault('denied', reason === null ? 'credentials are required' : 'the credentials are not valid'),
    );
    const challenge = reason === null ? CHALLENGE : CHALLENGE_INVALID;
    return { ...answer, status: 401, headers: { ...answer.headers, 'www-authenticate': challenge } };
  };

  const judgeAgain = async (request: FastifyRequest): Promise<boolean> => {
    const judgement = await judge(request);
    if (judgement.kind === 'passed') return true;
    const reason = judgement.kind === 'lacking' ? judgement.lack : judgement.reason;
    log.info({ request_id: request.id, caller: callerOf(request), reason }, 'what was allowed is no more');
    return false;
  };

  /** Between two runs the last result is told again. */
  const stillAllowed = async (request: FastifyRequest, judged: Judged): Promise<boolean> => {
    const nowMs = clock.monotonic();
    if (nowMs - judged.atMs >= JUDGED_MS) [judged.atMs, judged.passes] = [nowMs, judgeAgain(request)];
    return judged.passes;
  };

  return async (request, word) => {
    if (OPEN.has(request.routeOptions.url ?? '')) return undefined;
    const judgement = await judge(request);
    if (judgement.kind === 'unauthenticated') return unauthenticated(request, word, judgement.reason);
    const { caller } = judgement;
    request.judged = { caller, stillAllowed, atMs: clock.monotonic(), passes: true };
    // A path with an empty segment is none that anybody serves.
    if (judgement.kind === 'passed' || hasEmptySegment(request)) return undefined;
    refusals.inc({ status: '403' });
    log.info({ request_id: request.id, caller: caller.name, reason: judgement.lack }, 'request refused');
    return word(new Fault('denied', judgement.lack));
  };
}

/** HEAD is GET without the body. */
function routeRequest(request: FastifyRequest, route: string): RouteRequest {
  return {
    method: request.method === 'HEAD' ? 'GET' : request.method,
    route,
    params: request.params as Record<string, string>,
    query: request.query as Record<string, unknown>,
    headers: request.headers,
  };
}
