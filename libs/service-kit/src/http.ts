import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { type DynamicModule, HttpException } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Clock, Fault, type Sleeper, asFault } from '@tidemark/libs-kernel';
import { type Answer, faultAnswer, isWithheld, send } from './answer.ts';
import { answerBeforeBody, askForBody, countBodies, readBodiesAsBytes, refuseEncoded } from './bodies.ts';
import { allowOrigin } from './cors.ts';
import { type Gate, type Pass, openGate } from './gate.ts';
import { SlowBody } from './body-pace.ts';
import { HTTP_BOUNDS, type HttpBounds } from './http-bounds.ts';
import { HttpLoad, bodyTooLarge } from './http-load.ts';
import { clientErrorHandler } from './http-server.ts';
import { type Logger, NestLog } from './log.ts';
import type { Metrics } from './metrics.ts';
import { pathFault, refuseUnreadable } from './readable.ts';
import { logFieldsOf } from './request-context.ts';
import { requestTarget } from './request-target.ts';
import { systemSleeper } from './system.ts';
import { answerUnknownRoutes, hasEmptySegment } from './unknown-routes.ts';

export interface HttpOptions {
  /** Larger bodies are answered 413 while they arrive; inclusive. */
  readonly bodyBytesMax: number;
  /** Whether bodies may come compressed, by their Content-Encoding; the bound is on what they hold. Default: no. */
  readonly compressedBodies?: boolean;
  /** The smaller limits of single routes, by their pattern. */
  readonly routeBodyBytesMax?: Readonly<Record<string, number>>;
  /** Looks at a request before its body is read: an answer refuses it. */
  readonly admit?: (request: FastifyRequest) => Answer | undefined;
  /** How this service words a fault; default: JSON with `error`. */
  readonly faultAnswer?: (fault: Fault, request: FastifyRequest) => Answer;
  /** Headers of every answer. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly bounds?: Partial<HttpBounds>;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Monotonic; undefined before its first hook. */
    startedMs: number | undefined;
  }
}

interface HttpParts {
  /** Aborted when connections shall no longer be kept: clients are told with their next answer. Default: when the shutdown begins. */
  readonly leaving?: AbortSignal;
  /** Aborted when shutdown begins. */
  readonly stopping: AbortSignal;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** Default: the system's. */
  readonly sleeper?: Sleeper;
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
  const load = new HttpLoad({ ...HTTP_BOUNDS, ...options.bounds }, { sleeper: systemSleeper, ...parts });
  const begin = (request: FastifyRequest, reply: FastifyReply): void => {
    beginAnswer(request, reply, options);
    if (parts.gate?.cors) allowOrigin(parts.gate.cors, request, reply);
  };
  const adapter = new FastifyAdapter({
    serverFactory: (handler: RequestListener) => load.serve(handler),
    bodyLimit: options.bodyBytesMax,
    rewriteUrl: requestTarget,
    routerOptions: { caseSensitive: true, ignoreTrailingSlash: false, maxParamLength: PATH_SEGMENT_CHARS_MAX },
    requestIdHeader: false,
    genReqId: (raw: { headers: Record<string, unknown> }) => {
      const given = raw.headers['x-request-id'];
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
    },
    clientErrorHandler: clientErrorHandler(load.traffic),
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    frameworkErrors: (
      error: Error & { code?: string; statusCode?: number },
      request: FastifyRequest,
      reply: FastifyReply,
    ) => {
      begin(request, reply);
      const answer = wordFault(pathFault(error.code), request);
      void send(reply.header('connection', 'close'), { ...answer, status: error.statusCode ?? answer.status });
    },
  });
  const word = options.faultAnswer ?? faultAnswer;
  const wordFault = (fault: Fault, request: FastifyRequest): Answer =>
    fault instanceof SlowBody ? { ...word(fault, request), status: fault.statusCode } : word(fault, request);
  const fastify = adapter.getInstance() as unknown as FastifyInstance;
  readBodiesAsBytes(fastify);
  countBodies(fastify, load);
  boundRouteBodies(fastify, options);
  observe(fastify, options, parts, load, { begin, pass: openGate(fastify, parts.gate ?? {}, wordFault) }, wordFault);
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
      const fault = httpFault(thrown, request);
      if (isWithheld(fault)) logFault(parts.log, request, fault);
      return send(http.getResponse<FastifyReply>(), wordFault(fault, request));
    },
  });
  loads.set(application, load);
  return application;
}

const loads = new WeakMap<NestFastifyApplication, HttpLoad>();

/** What an application made by createHttp has taken on. */
export function loadOf(application: NestFastifyApplication): HttpLoad {
  const load = loads.get(application);
  if (load === undefined) throw new Error('not an application of createHttp');
  return load;
}

/** An outage is a line per request; what nobody expects has its stack too. */
function logFault(log: Logger, request: FastifyRequest, { code, message, cause, outcome }: Fault): void {
  const fields = { ...logFieldsOf(request), code, outcome, reason: message };
  if (code === 'unavailable' || code === 'disk_full') log.warn(fields, 'request failed');
  else log.error({ ...fields, err: cause }, 'request failed');
}

/** Puts what the HTTP layer itself threw into our codes: Fastify's errors, which Nest wraps into its own, carry a status. */
function httpFault(thrown: unknown, request: FastifyRequest): Fault {
  if (thrown instanceof Fault) return thrown;
  const status =
    thrown instanceof HttpException ? thrown.getStatus() : (thrown as { statusCode?: unknown } | null)?.statusCode;
  if (status === 413) return bodyTooLarge(request);
  if (status === 415) return new Fault('unsupported', 'the Content-Type cannot be read');
  if (status === 400) return new Fault('malformed', 'invalid request body');
  return asFault(thrown);
}

function observe(
  fastify: FastifyInstance,
  options: HttpOptions,
  { metrics, clock, log, stopping, leaving = stopping }: HttpParts,
  load: HttpLoad,
  { begin, pass }: { begin(request: FastifyRequest, reply: FastifyReply): void; readonly pass: Pass },
  wordFault: (fault: Fault, request: FastifyRequest) => Answer,
): void {
  const duration = metrics.histogram(
    'tidemark_http_request_seconds',
    'Time from the request head to the end of the answer.',
    [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60],
    ['method', 'route', 'status'],
  );
  fastify.decorateRequest('startedMs', undefined);
  const refusalOf = async (request: FastifyRequest, reply: FastifyReply): Promise<Answer | undefined> => {
    request.startedMs = clock.monotonic();
    begin(request, reply);
    load.admit(request, reply);
    const stopped = refuseUnreadable(request, (fault) => wordFault(fault, request)) ?? (await pass(request));
    if (stopped !== undefined || request.is404 || hasEmptySegment(request)) return stopped;
    refuseEncoded(request, reply, options.compressedBodies ?? false);
    const refusal = options.admit?.(request);
    if (refusal !== undefined) return refusal;
    load.reserveBody(request, reply);
    askForBody(request, reply);
    return undefined;
  };
  // The one hook with a promise: what follows runs when Node's parser has let go of what it has read, and knows whether the body is there.
  // After a refusal nothing follows: a promise of this hook itself Fastify would take for leave to go on, should the client not wait for
  // the refusal.
  fastify.addHook('onRequest', (request, reply, done) => {
    refusalOf(request, reply)
      .then((refusal) => (refusal === undefined ? done() : void send(reply, refusal)))
      .catch((thrown: unknown) => done(asFault(thrown)));
  });
  fastify.addHook('onSend', (request, reply, payload, done) => {
    // Else a connection that was busy when the shutdown began would be kept, and the shutdown wait for it (H2).
    if (leaving.aborted) reply.header('connection', 'close');
    if (reply.statusCode >= 300 && !reply.hasHeader('tidemark-outcome')) {
      reply.header('tidemark-outcome', reply.statusCode < 500 ? 'not-done' : 'unknown');
    }
    const refusal = load.holdAnswer(request, reply, payload);
    const taken = refusal === null ? payload : putInPlace(reply, wordFault(refusal, request));
    if (!request.raw.complete) load.dropBody(request);
    const linger = { bytesMax: options.bodyBytesMax, msMax: load.bounds.lingerMsMax };
    done(null, answerBeforeBody(request, reply, taken, linger));
  });
  fastify.addHook('onResponse', (request, reply, done) => {
    const ms = clock.monotonic() - (request.startedMs ?? clock.monotonic());
    const route = request.routeOptions.url ?? 'none';
    duration.observe({ method: request.method, route, status: String(reply.statusCode) }, ms / 1000);
    if (log.isLevelEnabled('debug')) {
      log.debug({ ...logFieldsOf(request), method: request.method, route, status: reply.statusCode, ms }, 'request');
    }
    done();
  });
}

function beginAnswer(request: FastifyRequest, reply: FastifyReply, { headers = {} }: HttpOptions): void {
  reply.header('x-request-id', request.id);
  reply.header('x-content-type-options', 'nosniff');
  for (const [name, value] of Object.entries(headers)) reply.header(name, value);
}

function boundRouteBodies(fastify: FastifyInstance, { routeBodyBytesMax = {} }: HttpOptions): void {
  fastify.addHook('onRoute', (route) => {
    const bytesMax = routeBodyBytesMax[route.url];
    if (bytesMax !== undefined) route.bodyLimit = bytesMax;
  });
}

/** In place of an answer whose head is not sent yet; the payload to send. */
function putInPlace(reply: FastifyReply, { status, body, contentType, headers = {} }: Answer): Buffer {
  reply.code(status).headers(headers).removeHeader('content-length');
  reply.header('content-type', contentType ?? 'application/json');
  return Buffer.from(body);
}
