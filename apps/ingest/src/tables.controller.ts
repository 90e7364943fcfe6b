import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IngestService } from '@tidemark/libs-ingest';
import { identityOf, mayDo, send } from '@tidemark/libs-service-kit';
import { toWrite } from './access.ts';
import { everyValue, senderOf } from './request-parts.ts';
import { INGEST } from './tokens.ts';

@Controller('v1/tables')
export class TablesController {
  readonly #ingest: IngestService;

  constructor(@Inject(INGEST) ingest: IngestService) {
    this.#ingest = ingest;
  }

  @Get()
  list(@Req() request: FastifyRequest, @Res() reply: FastifyReply) {
    const grants = identityOf(request)?.grants;
    const answer = this.#ingest.listTables({
      tenant: everyValue(request, 'x-tenant-id'),
      sender: senderOf(request),
      mayReach: (tenant, table) => grants === undefined || mayDo(grants, toWrite(tenant, table)),
    });
    return send(reply, answer);
  }
}
