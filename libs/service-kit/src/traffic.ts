import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A request from its head to the end of its answer, or of its connection. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** To run when it ends. */
  readonly ends: (() => void)[];
}

/** Who is connected, and what was asked and is not answered yet. Node's own list of idle connections lacks those that never asked. */
export class Traffic {
  readonly #connections = new Map<Socket, Set<Exchange>>();
  #requests = 0;

  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.#connected(socket));
    server.prependListener('request', (request, response) => this.#asked(request, response));
  }

  get connections(): number {
    return this.#connections.size;
  }

  get requests(): number {
    return this.#requests;
  }

  /** Requests of one connection that are not answered yet: more than one when it pipelines. */
  requestsOf(socket: Socket): number {
    return this.#connections.get(socket)?.size ?? 0;
  }

  /**
   * The answers that are owed on a connection: to requests that arrived whole, and those that have begun. Runs `then` after the last of
   * them; false when there is none.
   */
  whenNothingIsOwed(socket: Socket, then: () => void): boolean {
    const open = [...(this.#connections.get(socket) ?? [])];
    const last = open.findLast(({ request, response }) => request.complete || response.headersSent);
    last?.ends.push(then);
    return last !== undefined;
  }

  /** Runs `end` once, when the answer was sent or can no longer be sent; at once when that is so already. */
  whenEnded(request: IncomingMessage, response: ServerResponse, end: () => void): void {
    const exchange = this.#openExchange(request);
    if (exchange !== undefined) exchange.ends.push(end);
    else if (response.closed) end();
    else response.once('close', end);
  }

  /** Most connections have one at a time. */
  #openExchange(request: IncomingMessage): Exchange | undefined {
    for (const exchange of this.#connections.get(request.socket) ?? [])
      if (exchange.request === request) return exchange;
    return undefined;
  }

  /** Closes the connections on which nothing is asked, also those that never asked. */
  closeIdle(): void {
    for (const [socket, open] of this.#connections) if (open.size === 0) socket.destroySoon();
  }

  /** Cuts every connection; answers how many were in the middle of a request. */
  cut(): number {
    const busy = [...this.#connections.values()].filter((open) => open.size > 0).length;
    for (const socket of this.#connections.keys()) socket.destroy();
    return busy;
  }

  #connected(socket: Socket): void {
    this.#connections.set(socket, new Set());
    socket.once('close', () => this.#connections.delete(socket));
  }

  #asked(request: IncomingMessage, response: ServerResponse): void {
    const open = this.#connections.get(request.socket);
    if (open === undefined) return;
    const exchange: Exchange = { request, response, ends: [] };
    open.add(exchange);
    this.#requests++;
    response.on('close', () => this.#ended(open, exchange));
  }

  #ended(open: Set<Exchange>, exchange: Exchange): void {
    if (!open.delete(exchange)) return;
    this.#requests--;
    for (const end of exchange.ends) end();
  }
}
