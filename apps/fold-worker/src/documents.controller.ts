import { Controller, Get, Inject, Param, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { listDocuments, readDocument } from '@tidemark/libs-fold';
import { Fault } from '@tidemark/libs-kernel';
import { json, once, send } from '@tidemark/libs-service-kit';
import type { Views } from '@tidemark/libs-views-contract';
import { limitOf } from './request-parts.ts';
import { READ_WAIT, VIEWS } from './tokens.ts';
import type { ReadWait } from './wait.ts';

@Controller('v1/streams/:stream/documents/:kind')
export class DocumentsController {
  readonly #views: Views;
  readonly #wait: ReadWait;

  constructor(@Inject(VIEWS) views: Views, @Inject(READ_WAIT) wait: ReadWait) {
    this.#views = views;
    this.#wait = wait;
  }

  @Get()
  async list(
    @Param('stream') stream: string,
    @Param('kind') kind: string,
    @Query() query: Record<string, unknown>,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ) {
    const limit = limitOf(query);
    const late = await this.#wait({ stream, query, request, reply });
    return send(
      reply,
      late ?? json(await listDocuments(this.#views, stream, kind, once(query, 'after') ?? null, limit)),
    );
  }

  @Get(':id')
  async get(
    @Param('stream') stream: string,
    @Param('kind') kind: string,
    @Param('id') id: string,
    @Query() query: Record<string, unknown>,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ) {
    const late = await this.#wait({ stream, query, request, reply });
    if (late !== undefined) return send(reply, late);
    const document = await readDocument(this.#views, stream, kind, id);
    if (document === null)
      throw new Fault('not_found', `no document ${JSON.stringify(id)} of kind ${JSON.stringify(kind)}`);
    return send(reply, json(document));
  }
}
