import { systemRandom } from './system.ts';

/** The place of some work in a trace, as W3C trace context says it. */
export interface TraceContext {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits: the span that new work is a child of. */
  readonly spanId: string;
  /** Whether somebody records the trace. */
  readonly sampled: boolean;
  /** What tracing systems hand on to each other; passed on unread. */
  readonly traceState: string | undefined;
}

const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const TRACESTATE_CHARS_MAX = 512;

/** null for a traceparent that is none; a later version is read as far as this one goes. */
export function parseTraceparent(text: string | undefined, traceState?: string): TraceContext | null {
  if (text === undefined) return null;
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(text) ?? [];
  if (version === undefined || (version === '00' && more !== undefined)) return null;
  const sampled = (Number.parseInt(flags, 16) & 1) === 1;
  const kept = traceState !== undefined && traceState.length <= TRACESTATE_CHARS_MAX ? traceState : undefined;
  return { traceId, spanId, sampled, traceState: kept };
}

export function traceparentOf({ traceId, spanId, sampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
}

/** The beginning of a trace that nobody records. */
export function newTrace(): TraceContext {
  const bytes = Buffer.from(systemRandom.bytes(24)).toString('hex');
  return { traceId: bytes.slice(0, 32), spanId: bytes.slice(32), sampled: false, traceState: undefined };
}
