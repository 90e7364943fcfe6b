import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Sleeper, Tracer } from '@tidemark/libs-kernel';
import type { Logger } from './log.ts';
import { type RequestContext, currentContext, inContext, traceOf } from './request-context.ts';
import { type Settings, type SettingsShape } from './settings.ts';
import { type TraceContext, parseTraceparent, traceparentOf } from './trace-context.ts';

const endpoint = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).optional();

/** The standard variables that are looked at here; the exporter reads the other OTEL_EXPORTER_OTLP_... ones itself. */
export const tracingSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint.describe('collector that spans are sent to by OTLP/HTTP; unset: none are made'),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint.describe('the same, with its path'),
  OTEL_TRACES_SAMPLER: z
    .enum([
      'always_on',
      'always_off',
      'traceidratio',
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
    ])
    .default('parentbased_always_on')
    .describe('which traces are recorded'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe('share of traces for the ..traceidratio'),
} satisfies SettingsShape;

export type TracingSettings = Settings<typeof tracingSettings>;

/** Work in a trace that is being recorded. */
export interface Span {
  readonly trace: TraceContext;
  end(failed: boolean, attributes?: Readonly<Record<string, string | number>>): void;
}

/** Where spans go. */
export interface SpanExport {
  /** `parent` null: the span begins a trace. */
  start(name: string, parent: TraceContext | null, kind: 'server' | 'internal'): Span;
  /** Sends what is left. */
  close(): Promise<void>;
}

/** Of one page or batch at most so many spans are made: as many requests as may be in it. */
const PARENTS_MAX = 500;
const CLOSE_MS_MAX = 1500;
/** Asked all the time, and of no interest. */
const UNTRACED = new Set(['/livez', '/readyz', '/metrics']);

/** null: nothing is exported, and the SDK is not even loaded. */
export async function openSpanExport(
  service: string,
  settings: TracingSettings,
  log: Logger,
): Promise<SpanExport | null> {
  const wanted = settings.OTEL_EXPORTER_OTLP_ENDPOINT ?? settings.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  if (wanted === undefined) return null;
  const { openOtlp } = await import('./otlp.ts');
  return openOtlp(service, settings, log);
}

/**
 * The traces of one process (OPS-1): each request belongs to the trace that it names, or to a new one; what is done for it is done in its
 * context, so that log lines carry the trace's id. Without an export the context is handed on as it came.
 */
export class Tracing implements Tracer {
  readonly #export: SpanExport | null;
  readonly #log: Logger;
  readonly #spans = new WeakMap<FastifyRequest, Span>();

  constructor(spanExport: SpanExport | null, log: Logger) {
    this.#export = spanExport;
    this.#log = log;
  }

  begin(request: FastifyRequest): RequestContext {
    const context = traceOf(request);
    const route = request.routeOptions.url ?? 'no route';
    if (this.#export === null || UNTRACED.has(route)) return context;
    const span = this.#export.start(`${request.method} ${route}`, context.handedOn ? context.trace : null, 'server');
    this.#spans.set(request, span);
    return { ...context, trace: span.trace, handedOn: context.handedOn || span.trace.sampled };
  }

  end(request: FastifyRequest, reply: FastifyReply): void {
    this.#spans.get(request)?.end(reply.statusCode >= 500, {
      'http.request.method': request.method,
      'http.route': request.routeOptions.url ?? '',
      'http.response.status_code': reply.statusCode,
      'tidemark.request_id': request.id,
    });
  }

  async span<T>(name: string, work: () => Promise<T>, parents: readonly string[] = []): Promise<T> {
    const traces = this.#tracesOf(parents);
    const spans = traces.map((trace) => this.#export?.start(name, trace, 'internal'));
    let failed = true;
    try {
      // The context is one trace's; the lines of work for several belong to none of them alone.
      const [trace] = spans.map((span, at) => span?.trace ?? traces[at]);
      const result = await (trace !== undefined && spans.length === 1
        ? inContext({ ...currentContext(), trace, handedOn: true }, work)
        : work());
      failed = false;
      return result;
    } finally {
      for (const span of spans) span?.end(failed);
      if (parents.length > 0)
        this.#log.debug({ span: name, trace_ids: traces.map(({ traceId }) => traceId), failed }, 'traced');
    }
  }

  /** Sends what is left, if the collector takes it soon: a shutdown does not wait for it longer. Never rejects. */
  async close(sleeper: Sleeper): Promise<void> {
    if (this.#export === null) return;
    const sent = this.#export.close().catch((error: unknown) => this.#log.warn({ err: error }, 'spans are lost'));
    const waited = new AbortController();
    await Promise.race([sent, sleeper.sleep(CLOSE_MS_MAX, waited.signal)]);
    waited.abort();
  }

  /** Those that are named, else the one that is worked for now. */
  #tracesOf(parents: readonly string[]): readonly TraceContext[] {
    const current = currentContext();
    if (parents.length === 0) return current === undefined ? [] : [current.trace];
    return parents.slice(0, PARENTS_MAX).flatMap((parent) => parseTraceparent(parent) ?? []);
  }
}

/** What work that goes on elsewhere is to carry; undefined when nobody follows the request's trace. */
export function traceparentFor(request: FastifyRequest): string | undefined {
  const { workContext: context } = request;
  return context?.handedOn === true ? traceparentOf(context.trace) : undefined;
}
