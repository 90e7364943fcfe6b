import { Controller, Get, Inject, Param, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { type FoldWorker, listDocuments, readDocument } from '@tidemark/libs-fold';
import { Fault } from '@tidemark/libs-kernel';
import { json, once, send } from '@tidemark/libs-service-kit';
import type { Views } from '@tidemark/libs-views-contract';
import { parseLimit } from '@tidemark/libs-wire';
import { FOLD_WORKER, STOPPING, VIEWS } from './tokens.ts';
import { waitForMinSeq } from './wait.ts';

const PAGE_DOCUMENTS_MAX = 1000;

@Controller('v1/streams/:stream/documents/:kind')
export class DocumentsController {
  readonly #worker: FoldWorker;
  readonly #views: Views;
  readonly #stopping: AbortSignal;

  constructor(
    @Inject(FOLD_WORKER) worker: FoldWorker,
    @Inject(VIEWS) views: Views,
    @Inject(STOPPING) stopping: AbortSignal,
  ) {
    this.#worker = worker;
    this.#views = views;
    this.#stopping = stopping;
  }

  @Get()
  async list(
    @Param('stream') stream: string,
    @Param('kind') kind: string,
    @Query() query: Record<string, unknown>,
    @Res() reply: FastifyReply,
  ) {
    const limit = Math.min(parseLimit(once(query, 'limit')), PAGE_DOCUMENTS_MAX);
    const late = await waitForMinSeq(this.#worker, stream, query, this.#stopping);
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
    const late = await waitForMinSeq(this.#worker, stream, query, this.#stopping);
    if (late !== undefined) return send(reply, late);
    const document = await readDocument(this.#views, stream, kind, id);
    if (document === null)
      throw new Fault('not_found', `no document ${JSON.stringify(id)} of kind ${JSON.stringify(kind)}`);
    return send(reply, json(document));
  }
}
