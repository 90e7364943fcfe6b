import { randomUUID } from 'node:crypto';
import { type RequestListener, type Server, createServer } from 'node:http';
import type { Socket } from 'node:net';
import { type HttpBounds, IDLE_MS_MAX } from './http-bounds.ts';
import type { Traffic } from './traffic.ts';

/** Node's server with our bounds. What Node would answer by itself goes to the handler instead, so that it is said in our words (OPS-6). */
export function httpServer(handler: RequestListener, bounds: HttpBounds, traffic: Traffic): Server {
  const server = createServer(
    {
      requestTimeout: bounds.requestMsMax,
      headersTimeout: Math.min(bounds.headMsMax, bounds.requestMsMax),
      connectionsCheckingInterval: Math.min(1000, bounds.headMsMax, bounds.requestMsMax),
      keepAliveTimeout: IDLE_MS_MAX,
      requireHostHeader: false,
    },
    handler,
  );
  server.maxConnections = Math.ceil(bounds.connectionsMax * 1.1);
  traffic.watch(server);
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('connect', (_request, socket: Socket) => refuse(socket, '400 Bad Request', 'CONNECT is not offered'));
  return server;
}

/**
 * What cannot be read as a request at all is refused by Node's parser, before there is a request. The refusal would be taken for the
 * answer of a request before it on the connection, which may have done its work: then that one is answered, and the connection closed.
 */
export function clientErrorHandler(traffic: Traffic): (error: NodeJS.ErrnoException, socket: Socket) => void {
  return (error, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    if (traffic.whenNothingIsOwed(socket, () => socket.destroySoon())) return;
    const [status, reason] = REASONS[error.code ?? ''] ?? ['400 Bad Request', 'not a complete HTTP request'];
    refuse(socket, status, reason);
  };
}

const REASONS: Readonly<Record<string, readonly [status: string, reason: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'the head of the request is too large'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['413 Content Too Large', 'the chunk extensions of the body are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'the request did not arrive in time'],
};

function refuse(socket: Socket, status: string, reason: string): void {
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
