import type { FastifyRequest } from 'fastify';
import type { Sender } from '@tidemark/libs-ingest';
import { identityOf } from '@tidemark/libs-service-kit';

/** Node joins or drops repeated headers; the raw list keeps each. */
export function everyValue(request: FastifyRequest, name: string): string[] {
  const raw = request.raw.rawHeaders;
  return raw.filter((_, i) => i % 2 === 1 && raw[i - 1]?.toLowerCase() === name);
}

/** Undefined where nobody is asked who they are. */
export function senderOf(request: FastifyRequest): Sender | undefined {
  return identityOf(request) ?? undefined;
}
