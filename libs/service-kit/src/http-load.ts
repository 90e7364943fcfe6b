import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Clock, Fault, type Sleeper } from '@tidemark/libs-kernel';
import { BodyPace } from './body-pace.ts';
import { ByteBudget } from './byte-budget.ts';
import { type HttpBounds, RETRY_AFTER_MS } from './http-bounds.ts';
import { httpServer } from './http-server.ts';
import type { Metrics } from './metrics.ts';
import { Traffic } from './traffic.ts';

type Bound = 'connections' | 'requests' | 'pipelined' | 'bodies' | 'answers';

declare module 'fastify' {
  interface FastifyRequest {
    /** What is set aside for its body; undefined: nothing yet, null: all was given back. */
    heldBytes: number | null | undefined;
  }
}

/** Asked by whoever decides whether the process lives: answered whatever the load. */
const PROBES: readonly (string | undefined)[] = ['/livez', '/readyz', '/metrics'];

interface LoadParts {
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly sleeper: Sleeper;
}

/** What a process has taken on over HTTP, held to its bounds (OPS-4). */
export class HttpLoad {
  readonly traffic = new Traffic();
  readonly servers: Server[] = [];
  readonly bounds: HttpBounds;
  readonly #bodies: ByteBudget;
  readonly #pace: BodyPace;
  readonly #answers: ByteBudget;
  /** Bytes of answers that are held, with the number of answers that share them. */
  readonly #shared = new Map<unknown, number>();
  readonly #surplus = new WeakSet<Socket>();
  readonly #refused;

  constructor(bounds: HttpBounds, { metrics, clock, sleeper }: LoadParts) {
    this.bounds = bounds;
    this.#pace = new BodyPace(bounds, clock, sleeper);
    this.#bodies = new ByteBudget(bounds.bodiesBytesMax);
    this.#answers = new ByteBudget(bounds.bodiesBytesMax);
    const held = () => ({ bodies: this.#bodies.held, answers: this.#answers.held });
    metrics.gaugesOf('tidemark_http_held_bytes', 'Bodies of open requests, and answers not taken yet.', 'kind', held);
    metrics.gaugeOf('tidemark_http_connections', 'Open connections.', () => this.traffic.connections);
    metrics.gaugeOf('tidemark_http_requests', 'Requests without an answer yet.', () => this.traffic.requests);
    this.#refused = metrics.counter('tidemark_http_refused_total', 'Requests refused because a bound was reached.', [
      'bound',
    ]);
  }

  serve(handler: RequestListener): Server {
    const server = httpServer(handler, this.bounds, this.traffic);
    server.on('connection', (socket: Socket) => {
      if (this.traffic.connections > this.bounds.connectionsMax) this.#surplus.add(socket);
    });
    this.servers.push(server);
    return server;
  }

  /** Fault `overloaded` for a request that would be one too many; before anything of its body is read. */
  admit(request: FastifyRequest, reply: FastifyReply): void {
    const bound = isProbe(request) ? undefined : this.#reached(request.raw);
    if (bound === undefined) return;
    if (bound !== 'requests' && bound !== 'answers') reply.header('connection', 'close');
    // More of them stand in what was already read of the connection; the rest is not read any more.
    if (bound === 'pipelined') request.raw.socket.pause();
    throw this.#refusal(bound);
  }

  /**
   * Sets as many bytes aside for a body as it says it has, before it is read, until the end of the answer. One that says it has more than
   * its route takes is refused for that.
   */
  reserveBody(request: FastifyRequest, reply: FastifyReply): void {
    const bytes = bodyBytes(request);
    if (bytes > request.routeOptions.bodyLimit) throw bodyTooLarge(request);
    if (bytes > 0) this.holdBody(request, reply, bytes);
  }

  /**
   * Sets bytes aside, until the end of the answer: also for a body whose size shows while it is read. Fault `overloaded` when there is no
   * room for them.
   */
  holdBody(request: FastifyRequest, reply: FastifyReply, bytes: number): void {
    const held = request.heldBytes;
    if (held === null) throw new Fault('malformed', 'invalid request body');
    if (!this.#bodies.reserve(bytes)) throw this.#refusal('bodies');
    request.heldBytes = (held ?? 0) + bytes;
    if (held === undefined) this.traffic.whenEnded(request.raw, reply.raw, () => this.dropBody(request));
  }

  /** Nothing more is held of its body: what still comes of it is not kept. */
  dropBody(request: FastifyRequest): void {
    this.#bodies.release(request.heldBytes ?? 0);
    request.heldBytes = null;
  }

  /** A body that is about to be read must come at a pace. */
  awaitBody(request: FastifyRequest, reply: FastifyReply): void {
    const { raw } = request;
    if (isRead(raw)) return;
    const stop = this.#pace.watch(raw, bodyBytes(request), () => void this.#refused.inc({ bound: 'pace' }));
    this.traffic.whenEnded(raw, reply.raw, stop);
  }

  /**
   * An answer is in memory until its reader takes it; a reader that takes nothing is cut off. Answers of the same bytes hold them once. The
   * Fault to answer instead where too much is held already: many may have been admitted before, and wait for the same. What was done by
   * a request is always told.
   */
  holdAnswer(request: FastifyRequest, reply: FastifyReply, payload: unknown): Fault | null {
    const socket = request.raw.socket as Partial<Socket> | null;
    socket?.setTimeout?.(this.bounds.stalledMsMax);
    if ((typeof payload !== 'string' && !(payload instanceof Uint8Array)) || payload.length === 0) return null;
    const isGivenUp = isRead(request.raw) && reply.statusCode < 300 && !isProbe(request);
    if (isGivenUp && this.#answers.full && !this.#shared.has(payload)) return this.#refusal('answers');
    this.#hold(payload);
    this.traffic.whenEnded(request.raw, reply.raw, () => this.#release(payload));
    return null;
  }

  /** When its servers are closed, and every request has ended. */
  close(): void {
    this.#pace.close();
  }

  #hold(payload: string | Uint8Array): void {
    const holders = this.#shared.get(payload) ?? 0;
    if (payload instanceof Uint8Array) this.#shared.set(payload, holders + 1);
    if (holders === 0) this.#answers.hold(Buffer.byteLength(payload));
  }

  #release(payload: string | Uint8Array): void {
    const others = (this.#shared.get(payload) ?? 1) - 1;
    if (others > 0) return void this.#shared.set(payload, others);
    this.#shared.delete(payload);
    this.#answers.release(Buffer.byteLength(payload));
  }

  #reached(raw: IncomingMessage): Bound | undefined {
    const { socket } = raw;
    const { connectionsMax, pipelinedMax } = this.bounds;
    if (this.#surplus.has(socket) && this.traffic.connections > connectionsMax) return 'connections';
    if (this.traffic.requestsOf(socket) > pipelinedMax) return 'pipelined';
    if (this.traffic.requests > connectionsMax) return 'requests';
    return isRead(raw) && this.#answers.full ? 'answers' : undefined;
  }

  #refusal(bound: Bound): Fault {
    this.#refused.inc({ bound });
    return new Fault('overloaded', WORDS[bound], { retryAfterMs: RETRY_AFTER_MS });
  }
}

const isProbe = ({ routeOptions }: FastifyRequest): boolean => PROBES.includes(routeOptions.url);

const isRead = ({ method }: IncomingMessage): boolean => method === 'GET' || method === 'HEAD';

const WORDS: Readonly<Record<Bound, string>> = {
  connections: 'too many connections',
  requests: 'too many requests at the same time',
  pipelined: 'too many requests of this connection at the same time',
  bodies: 'too many request bodies at the same time',
  answers: 'too many answers that are not taken',
};

export function bodyTooLarge({ routeOptions }: FastifyRequest): Fault {
  return new Fault('too_large', `request body exceeded ${routeOptions.bodyLimit} bytes`);
}

/** What comes in chunks is counted as it comes. */
function bodyBytes({ raw, headers }: FastifyRequest): number {
  return isRead(raw) ? 0 : Number(headers['content-length'] ?? 0);
}
