import { Controller, Get, Inject, Param, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { readWatermark } from '@tidemark/libs-fold';
import { json, send } from '@tidemark/libs-service-kit';
import type { Views } from '@tidemark/libs-views-contract';
import { READ_WAIT, VIEWS } from './tokens.ts';
import type { ReadWait } from './wait.ts';

@Controller('v1/streams/:stream/watermark')
export class WatermarkController {
  readonly #views: Views;
  readonly #wait: ReadWait;

  constructor(@Inject(VIEWS) views: Views, @Inject(READ_WAIT) wait: ReadWait) {
    this.#views = views;
    this.#wait = wait;
  }

  @Get()
  async watermark(
    @Param('stream') stream: string,
    @Query() query: Record<string, unknown>,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ) {
    const late = await this.#wait({ stream, query, request, reply });
    return send(reply, late ?? json(await readWatermark(this.#views, stream)));
  }
}
