import { Controller, Get, Inject, Param, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { MachinesService } from '@tidemark/libs-relay';
import { bodyOf, json, send } from '@tidemark/libs-service-kit';
import { MACHINES } from './tokens.ts';

@Controller()
export class MachinesController {
  readonly #machines: MachinesService;

  constructor(@Inject(MACHINES) machines: MachinesService) {
    this.#machines = machines;
  }

  @Post('streams/:stream/machines')
  async announce(@Param('stream') stream: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply) {
    await this.#machines.announce(stream, bodyOf(request));
    return send(reply, { status: 204, body: '' });
  }

  @Get('streams/:stream/machines')
  async list(@Param('stream') stream: string, @Res() reply: FastifyReply) {
    return send(reply, json(await this.#machines.list(stream)));
  }
}
