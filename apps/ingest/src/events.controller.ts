import { Controller, Inject, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IngestService, RequestHead } from '@tidemark/libs-ingest';
import { type Clock, Fault } from '@tidemark/libs-kernel';
import { type Answer, bodyOf, once, send, traceparentFor } from '@tidemark/libs-service-kit';
import { everyValue, senderOf } from './request-parts.ts';
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
    const events = {
      ...headOf(request),
      body: bodyOf(request),
      receivedMs: this.#clock.now(),
      traceparent: traceparentFor(request),
    };
    return send(reply, await (isDryRun(request) ? this.#ingest.dryRun(events) : this.#ingest.ingest(events)));
  }
}

/** Refuses what can be refused before the body is read. */
export function admitEvents(service: IngestService): (request: FastifyRequest) => Answer | undefined {
  return (request) => {
    if (request.routeOptions.url !== '/v1/ingest' || request.method !== 'POST') return undefined;
    isDryRun(request);
    const admission = service.admit(headOf(request));
    return admission.kind === 'refused' ? admission.answer : undefined;
  };
}

function headOf(request: FastifyRequest): RequestHead {
  return {
    tenant: everyValue(request, 'x-tenant-id'),
    table: once(queryOf(request), 'table') ?? null,
    contentType: everyValue(request, 'content-type'),
    sender: senderOf(request),
  };
}

/** Whether the records are only to be judged. */
function isDryRun(request: FastifyRequest): boolean {
  const validate = once(queryOf(request), 'validate') ?? '0';
  if (validate === '0' || validate === '1') return validate === '1';
  throw new Fault('malformed', 'validate: must be 0 or 1');
}

const queryOf = (request: FastifyRequest) => request.query as Record<string, unknown>;
