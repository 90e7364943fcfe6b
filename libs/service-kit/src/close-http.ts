import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { loadOf } from './http.ts';

export interface CloseOptions {
  /** Connections that fall idle are kept for so long, so that a request which is on its way is answered and not reset (H4). */
  readonly keptMs?: number;
  /** What is not answered by then is cut off. */
  readonly drainMs?: number;
  /** Hears how many connections were cut in the middle of a request. */
  readonly cut?: (connections: number) => void;
}

const SWEEP_MS = 50;

/** Stops listening, and resolves when every open request is answered, or cut off at the deadline, and every connection is closed. */
export async function closeHttp(
  http: NestFastifyApplication,
  { keptMs = 500, drainMs, cut = () => {} }: CloseOptions = {},
): Promise<void> {
  const { traffic, servers } = loadOf(http);
  const closed = servers.filter(({ listening }) => listening).map(stopListening);
  let sweep: NodeJS.Timeout | undefined;
  const kept = setTimeout(() => {
    traffic.closeIdle();
    sweep = setInterval(() => traffic.closeIdle(), SWEEP_MS);
  }, keptMs);
  const deadline = drainMs === undefined ? undefined : setTimeout(() => cut(traffic.cut()), drainMs);
  await Promise.all(closed);
  for (const timer of [kept, sweep, deadline]) clearTimeout(timer);
  await http.close();
}

/** Without closing kept connections, which the server of HTTP does when it is closed as such. */
function stopListening(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.once('close', resolve);
    NetServer.prototype.close.call(server);
  });
}
