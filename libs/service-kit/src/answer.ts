import type { FastifyReply } from 'fastify';
import type { Fault, FaultCode } from '@tidemark/libs-kernel';

/** An HTTP answer as a value. An empty body is sent as no body. */
export interface Answer {
  readonly status: number;
  readonly body: string;
  /** Default: application/json for a body that is not empty. */
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function send(reply: FastifyReply, answer: Answer): FastifyReply {
  reply.code(answer.status);
  for (const [name, value] of Object.entries(answer.headers ?? {})) reply.header(name, value);
  if (answer.body === '') return reply.send();
  // Without a serializer of its own Fastify would add a charset to the type of a text. A text leaves with its head in one write.
  return reply
    .header('content-type', answer.contentType ?? 'application/json')
    .serializer(asItIs)
    .send(answer.body);
}

const asItIs = (body: unknown): string => body as string;

/** The bytes as they are: answers that share them hold them once. */
export function sendJson(
  reply: FastifyReply,
  bytes: Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): FastifyReply {
  return reply.code(200).headers(headers).header('content-type', 'application/json').send(bytes);
}

export const json = (body: string, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status: 200,
  body,
  headers,
});

/** The HTTP form of each fault code; the only place that knows it. */
const STATUS: Readonly<Record<FaultCode, number>> = {
  invalid: 422,
  malformed: 400,
  unsupported: 415,
  too_large: 413,
  not_found: 404,
  conflict: 409,
  denied: 403,
  unavailable: 503,
  overloaded: 503,
  deadline: 503,
  disk_full: 503,
  corrupt: 500,
  misconfigured: 500,
  unknown_outcome: 500,
  internal: 500,
};

/**
 * Faults of a backend, whose text may name files, tables or addresses of the server: that text is for the log, and a client is told
 * this instead.
 */
const TOLD: Readonly<Partial<Record<FaultCode, string>>> = {
  unavailable: 'not available now: try again later',
  disk_full: 'no space is left to write: try again later',
  corrupt: 'internal error',
  misconfigured: 'internal error',
  unknown_outcome: 'internal error',
  internal: 'internal error',
};

/** Whether the text of the fault stays in the log. */
export function isWithheld({ code }: Fault): boolean {
  return code in TOLD;
}

/** What a client may be told of a fault. */
export function toldText(fault: Fault): string {
  return TOLD[fault.code] ?? fault.message;
}

/** Says a fault over HTTP. */
export function faultAnswer(fault: Fault): Answer {
  const status = STATUS[fault.code];
  const headers: Record<string, string> = { 'tidemark-outcome': fault.outcome };
  const retryAfterMs = fault.retryAfterMs ?? (status === 503 ? 5000 : undefined);
  if (retryAfterMs !== undefined) headers['retry-after'] = String(Math.ceil(retryAfterMs / 1000));
  return { status, body: JSON.stringify({ error: toldText(fault) }), headers };
}
