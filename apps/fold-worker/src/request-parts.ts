import type { FastifyRequest } from 'fastify';
import { callerOf, once } from '@tidemark/libs-service-kit';
import { parseListLimit } from '@tidemark/libs-wire';

const PAGE_MAX = 1000;

/** How many rows a page may have; what is above the bound counts as the bound. */
export function limitOf(query: Record<string, unknown>): number {
  return Math.min(parseListLimit(once(query, 'limit')), PAGE_MAX);
}

/** Who asked for what changes something, for the log. */
export const recordOf = (request: FastifyRequest) => ({ request_id: request.id, caller: callerOf(request) });
