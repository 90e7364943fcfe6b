import { Controller, Get, Inject, Param, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { PullService } from '@tidemark/libs-relay';
import { json, once, send } from '@tidemark/libs-service-kit';
import { parseCursor, parseLimit } from '@tidemark/libs-wire';
import { PULL } from './tokens.ts';

@Controller()
export class PullController {
  readonly #pull: PullService;

  constructor(@Inject(PULL) pull: PullService) {
    this.#pull = pull;
  }

  @Get('streams/:stream/ops')
  async pull(@Param('stream') stream: string, @Query() query: Record<string, unknown>, @Res() reply: FastifyReply) {
    const since = parseCursor(once(query, 'since'));
    const limit = parseLimit(once(query, 'limit'));
    return send(reply, json(await this.#pull.pull(stream, since, limit), { 'cache-control': 'no-store' }));
  }
}
