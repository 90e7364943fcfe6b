import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Answer } from './answer.ts';

/** Which pages of other origins a browser lets use the service. */
export type CorsOrigins = '*' | readonly string[];

/** `*`, or origins as a browser sends them, with commas between them. */
export const corsOrigins = z.string().transform((text, context): CorsOrigins => {
  const origins = text.split(',').map((origin) => origin.trim());
  if (origins.length === 1 && origins[0] === '*') return '*';
  if (origins.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin)) return origins;
  context.addIssue({
    code: 'custom',
    message: 'must be * or origins such as https://app.example.org, with commas between',
  });
  return z.NEVER;
});

const EXPOSED = 'Tidemark-Seq, Tidemark-Head, Tidemark-Outcome, Retry-After, X-Request-Id';
const METHODS = 'GET, HEAD, POST, DELETE';
const HEADERS = 'Authorization, Content-Type, Last-Event-ID, X-Request-Id, traceparent, tracestate';
const PREFLIGHT_SECS = '600';

/**
 * Puts the CORS headers on an answer, also on one that is refused before anything is looked at. Nothing is said about other origins, so
 * that browsers keep the answer from them; cookies are never asked for.
 */
export function allowOrigin(origins: CorsOrigins, request: FastifyRequest, reply: FastifyReply): void {
  reply.header('vary', [reply.getHeader('vary') ?? [], 'Origin'].flat().join(', '));
  const { origin } = request.headers;
  if (!isAllowed(origins, origin)) return;
  reply.header('access-control-allow-origin', origins === '*' ? '*' : origin);
  reply.header('access-control-expose-headers', EXPOSED);
}

/** A preflight is answered here, without credentials, because a browser sends none with it; undefined for anything else. */
export function preflightAnswer(origins: CorsOrigins, { method, headers }: FastifyRequest): Answer | undefined {
  const asked = method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
  if (!asked || !isAllowed(origins, headers.origin)) return undefined;
  return {
    status: 204,
    body: '',
    headers: {
      'access-control-allow-methods': METHODS,
      'access-control-allow-headers': HEADERS,
      'access-control-max-age': PREFLIGHT_SECS,
    },
  };
}

const isAllowed = (origins: CorsOrigins, origin: string | undefined): origin is string =>
  origin !== undefined && (origins === '*' || origins.includes(origin));
