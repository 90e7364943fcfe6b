import { Controller, Get, Inject, Param, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { listDocuments, readDocument } from '@tidemark/libs-fold';
import { Fault } from '@tidemark/libs-kernel';
import { json, once, send } from '@tidemark/libs-service-kit';
import type { Views } from '@tidemark/libs-views-contract';
import { parseListLimit } from '@tidemark/libs-wire';
import { MIN_SEQ_WAIT, VIEWS } from './tokens.ts';
import type { MinSeqWait } from './wait.ts';

const PAGE_DOCUMENTS_MAX = 1000;

@Controller('v1/streams/:stream/documents/:kind')
export class DocumentsController {
  readonly #views: Views;
  readonly #waitForMinSeq: MinSeqWait;

  constructor(@Inject(VIEWS) views: Views, @Inject(MIN_SEQ_WAIT) waitForMinSeq: MinSeqWait) {
    this.#views = views;
    this.#waitForMinSeq = waitForMinSeq;
  }

  @Get()
  async list(
    @Param('stream') stream: string,
    @Param('kind') kind: string,
    @Query() query: Record<string, unknown>,
    @Res() reply: FastifyReply,
  ) {
    const limit = Math.min(parseListLimit(once(query, 'limit')), PAGE_DOCUMENTS_MAX);
    const late = await this.#waitForMinSeq(stream, query);
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
    @Res() reply: FastifyReply,
  ) {
    const late = await this.#waitForMinSeq(stream, query);
    if (late !== undefined) return send(reply, late);
    const document = await readDocument(this.#views, stream, kind, id);
    if (document === null)
      throw new Fault('not_found', `no document ${JSON.stringify(id)} of kind ${JSON.stringify(kind)}`);
    return send(reply, json(document));
  }
}
