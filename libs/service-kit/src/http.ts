import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { type DynamicModule, HttpException } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Clock, Fault, asFault } from '@tidemark/libs-kernel';
import { type Answer, faultAnswer, send } from './answer.ts';
import { type Gate, type Pass, openGate } from './gate.ts';
import { type Logger, NestLog } from './log.ts';
import type { Metrics } from './metrics.ts';
import { logFieldsOf } from './request-context.ts';

export interface HttpOptions {
  /** Larger bodies are answered 413 while they arrive; inclusive. */
  readonly bodyBytesMax: number;
  /** Looks at a request before its body is read: an answer refuses it. */
  readonly admit?: (request: FastifyRequest) => Answer | undefined;
  /** How this service words a fault; default: JSON with `error`. */
  readonly faultAnswer?: (fault: Fault, request: FastifyRequest) => Answer;
  /** Headers of every answer. */
  readonly headers?: Readonly<Record<string, string>>;
}

interface HttpParts {
  /** Aborted when shutdown begins. */
  readonly stopping: AbortSignal;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** Default: everybody may do everything. */
  readonly gate?: Gate;
}

const REQUEST_ID = /^[\w.:-]{1,128}$/;
/** A stream id or document id in a path, percent-decoded. */
const PATH_SEGMENT_CHARS_MAX = 4096;

/**
 * A Nest application on Fastify whose bodies arrive as bytes: the wire's own readers decode them (lossless numbers, our limits, our
 * status codes). Routes are matched exactly: case-sensitive, no trailing slash.
 */
export async function createHttp(
  module: DynamicModule,
  options: HttpOptions,
  parts: HttpParts,
): Promise<NestFastifyApplication> {
  const adapter = new FastifyAdapter({
    bodyLimit: options.bodyBytesMax,
    routerOptions: { caseSensitive: true, ignoreTrailingSlash: false, maxParamLength: PATH_SEGMENT_CHARS_MAX },
    requestIdHeader: false,
    genReqId: (raw: { headers: Record<string, unknown> }) => {
      const given = raw.headers['x-request-id'];
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
    },
    clientErrorHandler,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    frameworkErrors: (error: Error & { code?: string }, request: FastifyRequest, reply: FastifyReply) => {
      void send(reply, wordFault(new Fault('malformed', error.message), request));
    },
  });
  const wordFault = options.faultAnswer ?? ((fault: Fault) => faultAnswer(fault));
  const fastify = adapter.getInstance() as unknown as FastifyInstance;
  readBodiesAsBytes(fastify);
  observe(fastify, options, parts, openGate(fastify, parts.gate ?? {}, wordFault));
  answerUnknownRoutes(fastify, wordFault);
  const application = await NestFactory.create<NestFastifyApplication>(module, adapter, {
    logger: new NestLog(parts.log),
    bodyParser: false,
    abortOnError: false,
  });
  application.useGlobalFilters({
    catch: (thrown: unknown, host) => {
      const http = host.switchToHttp();
      const request = http.getRequest<FastifyRequest>();
      const fault = httpFault(thrown, options.bodyBytesMax);
      if (fault.code === 'internal' || fault.code === 'corrupt' || fault.code === 'misconfigured') {
        parts.log.error({ ...logFieldsOf(request), err: fault.cause ?? fault }, 'request failed');
      }
      return send(http.getResponse<FastifyReply>(), wordFault(fault, request));
    },
  });
  return application;
}

/** What cannot be read as a request at all is refused by Node's parser, before there is a request: here it is put into our words. */
function clientErrorHandler(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const [status, reason] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', 'the head of the request is too large']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ['408 Request Timeout', 'the request did not arrive in time']
        : ['400 Bad Request', 'not a complete HTTP request'];
  const body = JSON.stringify({ error: reason });
  const head = [
    `HTTP/1.1 ${status}`,
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Tidemark-Outcome: not-done',
    'X-Content-Type-Options: nosniff',
    `X-Request-Id: ${randomUUID()}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

const SWEEP_MS = 50;

/** Stops listening and resolves when every open request is answered. Connections that fall idle meanwhile are closed, not waited for. */
export async function closeHttp(http: NestFastifyApplication): Promise<void> {
  const server = http.getHttpServer() as Server;
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
  await http.close().finally(() => clearInterval(sweep));
}

/** Puts what the HTTP layer itself threw into our codes: Fastify's errors, which Nest wraps into its own, carry a status. */
function httpFault(thrown: unknown, bodyBytesMax: number): Fault {
  const status =
    thrown instanceof HttpException ? thrown.getStatus() : (thrown as { statusCode?: unknown } | null)?.statusCode;
  if (status === 413) return new Fault('too_large', `request body exceeded ${bodyBytesMax} bytes`);
  if (status === 400) return new Fault('malformed', 'invalid request body');
  return asFault(thrown);
}

function readBodiesAsBytes(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
}

/** The body of a request as bytes; empty when there is none. */
export function bodyOf(request: FastifyRequest): Uint8Array {
  return request.body instanceof Uint8Array ? request.body : new Uint8Array(0);
}

function observe(
  fastify: FastifyInstance,
  options: HttpOptions,
  { metrics, clock, log, stopping }: HttpParts,
  pass: Pass,
): void {
  const duration = metrics.histogram(
    'tidemark_http_request_seconds',
    'Time from the request head to the end of the answer.',
    [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60],
    ['method', 'route', 'status'],
  );
  const started = new WeakMap<FastifyRequest, number>();
  fastify.addHook('onRequest', async (request, reply) => {
    started.set(request, clock.monotonic());
    reply.header('x-request-id', request.id);
    reply.header('x-content-type-options', 'nosniff');
    for (const [name, value] of Object.entries(options.headers ?? {})) reply.header(name, value);
    const stopped = await pass(request, reply);
    if (stopped !== undefined) return send(reply, stopped);
    if (request.is404) return;
    refuseEncoded(request, reply);
    const refusal = options.admit?.(request);
    if (refusal !== undefined) return send(reply, refusal);
  });
  fastify.addHook('onSend', async (_request, reply, payload) => {
    // Else a connection that was busy when the shutdown began would be kept, and the shutdown wait for it (H2).
    if (stopping.aborted) reply.header('connection', 'close');
    if (reply.statusCode >= 300 && !reply.hasHeader('tidemark-outcome')) {
      reply.header('tidemark-outcome', reply.statusCode < 500 ? 'not-done' : 'unknown');
    }
    return payload;
  });
  fastify.addHook('onResponse', async (request, reply) => {
    const ms = clock.monotonic() - (started.get(request) ?? clock.monotonic());
    const route = request.routeOptions.url ?? 'none';
    duration.observe({ method: request.method, route, status: String(reply.statusCode) }, ms / 1000);
    log.debug({ ...logFieldsOf(request), method: request.method, route, status: reply.statusCode, ms }, 'request');
  });
}

/** A body that says it is compressed is refused, not taken for what it would be without the label. */
function refuseEncoded(request: FastifyRequest, reply: FastifyReply): void {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() === 'identity') return;
  reply.header('accept-encoding', 'identity');
  throw new Fault(
    'unsupported',
    `Content-Encoding ${JSON.stringify(encoding)} is not supported; send the body as it is`,
  );
}

/** 404 for an unknown path (an empty segment matches no parameter), 405 with Allow for a known path with another method. */
function answerUnknownRoutes(
  fastify: FastifyInstance,
  wordFault: (fault: Fault, request: FastifyRequest) => Answer,
): void {
  const known: { readonly path: RegExp; readonly methods: Set<string> }[] = [];
  fastify.addHook('onRoute', ({ url, method }) => {
    const path = new RegExp(`^${url.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:[^/]+/g, '[^/]+')}$`);
    const entry = known.find((other) => other.path.source === path.source) ?? { path, methods: new Set<string>() };
    if (entry.methods.size === 0) known.push(entry);
    for (const one of [method].flat()) entry.methods.add(one);
  });
  fastify.addHook('onRequest', async (request, reply) => {
    const emptySegment = Object.values(request.params ?? {}).some((value) => value === '' || value === undefined);
    if (emptySegment) return send(reply, wordFault(new Fault('not_found', 'not found'), request));
    if (!request.is404) return;
    const path = request.url.split('?', 1)[0] ?? '';
    const methods = new Set(known.filter((entry) => entry.path.test(path)).flatMap((entry) => [...entry.methods]));
    if (methods.size === 0) return send(reply, wordFault(new Fault('not_found', 'not found'), request));
    const allow = [...methods].sort().join(', ');
    const answer = wordFault(new Fault('not_found', `method not allowed; use ${allow}`), request);
    return send(reply, { ...answer, status: 405, headers: { ...answer.headers, allow } });
  });
}
