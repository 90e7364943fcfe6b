import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { json, send } from '@tidemark/libs-service-kit';
import { openApiDocument } from './openapi/document.ts';

const TEXT = JSON.stringify(openApiDocument);

/** What this fold-worker speaks, for programs. */
@Controller('v1/openapi.json')
export class OpenApiController {
  @Get()
  document(@Res() reply: FastifyReply) {
    return send(reply, json(TEXT));
  }
}
