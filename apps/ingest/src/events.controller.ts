import { Controller, Inject, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IngestService, RequestHead } from '@tidemark/libs-ingest';
import type { Clock } from '@tidemark/libs-kernel';
import { type Answer, bodyOf, once, send, traceparentFor } from '@tidemark/libs-service-kit';
import { CLOCK, INGEST } from './tokens.ts';

@Controller('v1/ingest')
export class EventsController {
  readonly #ingest: IngestService;
  readonly #clock: Clock;

  constructor(@Inject(INGEST) ingest: IngestService, @Inject(CLOCK) clock: Clock) {
    this.#ingest = ingest;
    this.#clock = clock;
  }

  @Post()
  async ingest(@Req() request: FastifyRequest, @Res() reply: FastifyReply) {
    const answer = await this.#ingest.ingest({
      ...headOf(request),
      body: bodyOf(request),
      receivedMs: this.#clock.now(),
      traceparent: traceparentFor(request),
    });
    return send(reply, answer);
  }
}

/** Refuses what can be refused before the body is read. */
export function admitEvents(service: IngestService): (request: FastifyRequest) => Answer | undefined {
  return (request) => {
    if (request.routeOptions.url !== '/v1/ingest' || request.method !== 'POST') return undefined;
    const admission = service.admit(headOf(request));
    return admission.kind === 'refused' ? admission.answer : undefined;
  };
}

function headOf(request: FastifyRequest): RequestHead {
  return {
    tenant: everyValue(request, 'x-tenant-id'),
    table: once(request.query as Record<string, unknown>, 'table') ?? null,
    contentType: everyValue(request, 'content-type'),
  };
}

/** Node joins or drops repeated headers; the raw list keeps each. */
function everyValue(request: FastifyRequest, name: string): string[] {
  const raw = request.raw.rawHeaders;
  return raw.filter((_, i) => i % 2 === 1 && raw[i - 1]?.toLowerCase() === name);
}
