import { AsyncLocalStorage } from 'node:async_hooks';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type TraceContext, newTrace, parseTraceparent } from './trace-context.ts';

/** What everything that is done for one request knows of it. */
export interface RequestContext {
  /** undefined: work that no request waits for. */
  readonly requestId?: string;
  readonly trace: TraceContext;
  /** Whether the trace is anybody's but this log's: it came with the request, or its spans are exported. */
  readonly handedOn: boolean;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** undefined before its first hook. */
    workContext: RequestContext | undefined;
  }
}

const storage = new AsyncLocalStorage<RequestContext>();

export const currentContext = (): RequestContext | undefined => storage.getStore();

export function inContext<T>(context: RequestContext, work: () => T): T {
  return storage.run(context, work);
}

/** The context as members of a log line; a new object each time. */
export function contextFields(context = currentContext()): Record<string, string> {
  if (context === undefined) return {};
  const { requestId, trace } = context;
  return { ...(requestId !== undefined && { request_id: requestId }), trace_id: trace.traceId };
}

/** The members of a log line about this request, also where its context is lost. */
export function logFieldsOf(request: FastifyRequest): Record<string, string> {
  return { ...contextFields(request.workContext), request_id: request.id };
}

/** The trace that the request belongs to: its own, or a new one (OPS-1). */
export function traceOf(request: FastifyRequest): RequestContext {
  const { traceparent, tracestate } = request.headers;
  const state = Array.isArray(tracestate) ? tracestate.join(',') : tracestate;
  const given = parseTraceparent(Array.isArray(traceparent) ? undefined : traceparent, state);
  return { requestId: request.id, trace: given ?? newTrace(), handedOn: given !== null };
}

/** Lets each request be worked on in the context that `begin` makes of it. */
export function keepContext(fastify: FastifyInstance, begin: (request: FastifyRequest) => RequestContext): void {
  fastify.decorateRequest('workContext', undefined);
  fastify.addHook('onRequest', (request, _reply, done) => {
    request.workContext = begin(request);
    storage.run(request.workContext, done);
  });
}
