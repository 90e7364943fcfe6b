import { Controller, Inject, Param, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PushService } from '@tidemark/libs-relay';
import { bodyOf, json, send } from '@tidemark/libs-service-kit';
import { PUSH } from './tokens.ts';

@Controller()
export class PushController {
  readonly #push: PushService;

  constructor(@Inject(PUSH) push: PushService) {
    this.#push = push;
  }

  @Post('streams/:stream/ops')
  async push(@Param('stream') stream: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply) {
    const { appended, highestSeq } = await this.#push.push(stream, bodyOf(request));
    return send(reply, json(`{"appended":${appended}}`, { 'tidemark-seq': String(highestSeq) }));
  }
}
