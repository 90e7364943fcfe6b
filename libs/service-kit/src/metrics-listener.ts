import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Answer } from './answer.ts';
import { HTTP_BOUNDS } from './http-bounds.ts';
import { clientErrorHandler, httpServer } from './http-server.ts';
import type { Address } from './settings.ts';
import { Traffic } from './traffic.ts';

export interface MetricsListener {
  readonly url: string;
  close(): Promise<void>;
}

const NOT_DONE = { 'tidemark-outcome': 'not-done' };

/** `/metrics` on an address of its own, for a network that only the collector reaches: nobody is asked who they are. */
export async function listenForMetrics(address: Address, exposition: () => Promise<Answer>): Promise<MetricsListener> {
  const server = serverFor((request, response) => {
    const known = request.url?.split('?', 1)[0] === '/metrics' && ['GET', 'HEAD'].includes(request.method ?? '');
    if (!known) return void response.writeHead(404, NOT_DONE).end();
    exposition().then(
      ({ body, contentType }) => response.writeHead(200, { 'content-type': contentType ?? '' }).end(body),
      () => response.writeHead(500, NOT_DONE).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address.port, address.host, resolve);
  });
  return { url: urlOf(server), close: () => closed(server) };
}

/** What cannot be read is refused in the words of every other listener. */
function serverFor(handler: RequestListener): Server {
  const traffic = new Traffic();
  return httpServer(handler, HTTP_BOUNDS, traffic).on('clientError', clientErrorHandler(traffic));
}

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
