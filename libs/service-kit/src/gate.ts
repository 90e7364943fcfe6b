import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Fault } from '@tidemark/libs-kernel';
import type { Answer } from './answer.ts';
import type { Guard } from './auth/guard.ts';
import { type CorsOrigins, preflightAnswer } from './cors.ts';
import { keepContext, traceOf } from './request-context.ts';
import type { Tracing } from './tracing.ts';

/** What a request passes before anything else is looked at. */
export interface Gate {
  /** null: browsers keep the answers from pages of other origins. */
  readonly cors?: CorsOrigins | null;
  /** null: nobody is asked who they are. */
  readonly guard?: Guard | null;
  /** null: requests have their context, and no spans. */
  readonly tracing?: Tracing | null;
}

/** Lets a request pass (undefined), or answers it. */
export type Pass = (request: FastifyRequest) => Promise<Answer | undefined>;

/** A browser's preflight, then authentication; a path or method that nobody serves is answered as such, whoever asks. */
export function openGate(
  fastify: FastifyInstance,
  { cors = null, guard = null, tracing = null }: Gate,
  wordFault: (fault: Fault, request: FastifyRequest) => Answer,
): Pass {
  recordRoutes(fastify);
  fastify.decorateRequest('judged', undefined);
  keepContext(fastify, (request) => tracing?.begin(request) ?? traceOf(request));
  if (tracing !== null)
    fastify.addHook('onResponse', (request, reply, done) => {
      tracing.end(request, reply);
      done();
    });
  return async (request) => {
    const preflight = cors === null ? undefined : preflightAnswer(cors, request);
    if (preflight !== undefined || guard === null || request.is404) return preflight;
    return guard(request, (fault) => wordFault(fault, request));
  };
}

export interface Route {
  readonly method: string;
  readonly url: string;
}

const routes = new WeakMap<FastifyInstance, Route[]>();

function recordRoutes(fastify: FastifyInstance): void {
  const known: Route[] = [];
  routes.set(fastify, known);
  fastify.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) known.push({ method: one, url });
  });
}

/** Every route of an application made by createHttp. */
export function routesOf(application: { getHttpAdapter(): { getInstance(): unknown } }): readonly Route[] {
  return routes.get(application.getHttpAdapter().getInstance() as FastifyInstance) ?? [];
}
