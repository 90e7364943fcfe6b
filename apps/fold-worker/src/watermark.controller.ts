import { Controller, Get, Inject, Param, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { type FoldWorker, readWatermark } from '@tidemark/libs-fold';
import { json, send } from '@tidemark/libs-service-kit';
import type { Views } from '@tidemark/libs-views-contract';
import { FOLD_WORKER, STOPPING, VIEWS } from './tokens.ts';
import { waitForMinSeq } from './wait.ts';

@Controller('v1/streams/:stream/watermark')
export class WatermarkController {
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
  async watermark(
    @Param('stream') stream: string,
    @Query() query: Record<string, unknown>,
    @Res() reply: FastifyReply,
  ) {
    const late = await waitForMinSeq(this.#worker, stream, query, this.#stopping);
    return send(reply, late ?? json(await readWatermark(this.#views, stream)));
  }
}
