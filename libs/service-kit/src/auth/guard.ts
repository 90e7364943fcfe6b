import type { FastifyRequest } from 'fastify';
import { Fault } from '@tidemark/libs-kernel';
import type { Answer } from '../answer.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { type Access, type Need, type RouteRequest, describeNeed, mayDo } from './access.ts';
import type { Authenticator, Caller } from './authenticator.ts';
import { readCredentials } from './credentials.ts';

/** Judges a request before its body is read: an answer refuses it. */
export type Guard = (request: FastifyRequest, word: (fault: Fault) => Answer) => Promise<Answer | undefined>;

export interface GuardParts {
  readonly authenticator: Authenticator;
  readonly access: Access;
  readonly log: Logger;
  readonly metrics: Metrics;
}

const CHALLENGE = 'Bearer realm="tidemark", Basic realm="tidemark", charset="UTF-8"';
const CHALLENGE_INVALID = CHALLENGE.replace(',', ', error="invalid_token",');

/** A prober has no credentials, nor has who is about to write a client; what they learn is no secret. */
const OPEN = new Set(['/livez', '/readyz', '/v1/openapi.json']);
const METRICS: Need = { action: 'admin', tenant: null, stream: null };

const callers = new WeakMap<FastifyRequest, Caller>();

/** Who sent the request; null where nobody is asked. */
export function callerOf(request: FastifyRequest): string | null {
  return callers.get(request)?.name ?? null;
}

/** Asks who sends the request (401), then whether it may do that (403). */
export function guardOf({ authenticator, access, log, metrics }: GuardParts): Guard {
  const refusals = metrics.counter('tidemark_auth_refused_total', 'Requests refused for who sent them.', ['status']);

  const unauthenticated = (request: FastifyRequest, word: (fault: Fault) => Answer, reason: string | null): Answer => {
    refusals.inc({ status: '401' });
    if (reason !== null) log.info({ request_id: request.id, reason }, 'credentials refused');
    const answer = word(
      new Fault('denied', reason === null ? 'credentials are required' : 'the credentials are not valid'),
    );
    const challenge = reason === null ? CHALLENGE : CHALLENGE_INVALID;
    return { ...answer, status: 401, headers: { ...answer.headers, 'www-authenticate': challenge } };
  };

  return async (request, word) => {
    const route = request.routeOptions.url ?? '';
    if (OPEN.has(route)) return undefined;
    const credentials = readCredentials(request.headers.authorization);
    if (credentials.kind === 'none') return unauthenticated(request, word, null);
    if (credentials.kind === 'unreadable') return unauthenticated(request, word, 'neither Bearer nor Basic');
    const verdict = await authenticator.authenticate(credentials.token);
    if (verdict.kind === 'refused') return unauthenticated(request, word, verdict.reason);
    const { caller } = verdict;
    callers.set(request, caller);
    const need = route === '/metrics' ? METRICS : access(routeRequest(request, route));
    if (need !== undefined && mayDo(caller.grants, need)) return undefined;
    refusals.inc({ status: '403' });
    const lack = need === undefined ? 'nobody may use this route' : `no grant for ${describeNeed(need)}`;
    log.info({ request_id: request.id, caller: caller.name, reason: lack }, 'request refused');
    return word(new Fault('denied', lack));
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
