import { Controller, Inject, Param, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PrefixRegistry } from '@tidemark/libs-op-store-contract';
import { bodyOf, json, send } from '@tidemark/libs-service-kit';
import { decodeRegister } from '@tidemark/libs-wire';
import { REGISTRY } from './tokens.ts';

@Controller()
export class RegisterController {
  readonly #registry: PrefixRegistry;

  constructor(@Inject(REGISTRY) registry: PrefixRegistry) {
    this.#registry = registry;
  }

  @Post('streams/:stream/register')
  async register(@Param('stream') stream: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply) {
    const { prefix, replicaUuid } = decodeRegister(bodyOf(request));
    const registration = await this.#registry.register(stream, prefix, replicaUuid);
    const answer =
      registration.outcome === 'registered'
        ? { outcome: 'registered' }
        : { outcome: 'reassigned', new_prefix: registration.newPrefix };
    return send(reply, json(JSON.stringify(answer)));
  }
}
