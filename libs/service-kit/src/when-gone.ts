import type { FastifyReply, FastifyRequest } from 'fastify';

/** Aborted when the client has gone, which may have been while it was still asked who it is, and when it was answered: nobody is left to wait for. */
export function whenGone(request: FastifyRequest, reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  // The socket tells also of a pipelined request, whose answer has none yet.
  if (reply.raw.closed || request.raw.socket.destroyed) gone.abort();
  reply.raw.once('close', () => gone.abort());
  return gone.signal;
}
