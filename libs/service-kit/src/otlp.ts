import {
  DiagLogLevel,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  createTraceState,
  diag,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Logger } from './log.ts';
import type { TraceContext } from './trace-context.ts';
import type { SpanExport, TracingSettings } from './tracing.ts';

/**
 * Spans to a collector by OTLP over HTTP, in the background: a collector that is slow or gone costs spans, never requests. Where it is
 * and how it is reached the exporter takes from the standard variables (OTEL_EXPORTER_OTLP_...).
 */
export function openOtlp(service: string, settings: TracingSettings, log: Logger): SpanExport {
  sayWhatGoesWrong(log);
  const own = resourceFromAttributes({ 'service.name': service });
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(own)
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: samplerOf(settings.OTEL_TRACES_SAMPLER, settings.OTEL_TRACES_SAMPLER_ARG),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  });
  const tracer = provider.getTracer('tidemark');
  return {
    start(name, parent, kind) {
      const context = parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, remote(parent));
      const span = tracer.startSpan(name, { kind: kind === 'server' ? SpanKind.SERVER : SpanKind.INTERNAL }, context);
      return {
        trace: ownContext(span.spanContext()),
        end(failed, attributes = {}) {
          span.setAttributes({ ...attributes });
          if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
          span.end();
        },
      };
    },
    close: () => provider.shutdown(),
  };
}

const remote = ({ traceId, spanId, sampled, traceState }: TraceContext): SpanContext => ({
  traceId,
  spanId,
  traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
  isRemote: true,
  ...(traceState !== undefined && { traceState: createTraceState(traceState) }),
});

const ownContext = (context: SpanContext): TraceContext => ({
  traceId: context.traceId,
  spanId: context.spanId,
  sampled: (context.traceFlags & TraceFlags.SAMPLED) !== 0,
  traceState: context.traceState?.serialize(),
});

/** The SDK is silent by itself. */
function sayWhatGoesWrong(log: Logger): void {
  const warn = (message: string) => log.warn({ reason: message }, 'spans cannot be exported');
  const quiet = () => {};
  diag.setLogger({ error: warn, warn, info: quiet, debug: quiet, verbose: quiet }, DiagLogLevel.WARN);
}

/** The SDK leaves OTEL_TRACES_SAMPLER to its user. */
function samplerOf(name: TracingSettings['OTEL_TRACES_SAMPLER'], ratio: number): Sampler {
  const root = name.endsWith('always_on')
    ? new AlwaysOnSampler()
    : name.endsWith('always_off')
      ? new AlwaysOffSampler()
      : new TraceIdRatioBasedSampler(ratio);
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}
