import { Controller, Get, Inject, Param, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { OpStore } from '@tidemark/libs-op-store-contract';
import { json, once, send } from '@tidemark/libs-service-kit';
import { parseLimit } from '@tidemark/libs-wire';

import { OP_STORE } from './tokens.ts';

/** Which streams there are, for operators: `{"streams":[{"stream","head"}],"next":<last id, null on the last page>}`. */
@Controller('v1/streams')
export class StreamsController {
  readonly #opStore: OpStore;

  constructor(@Inject(OP_STORE) opStore: OpStore) {
    this.#opStore = opStore;
  }

  @Get()
  async list(@Query() query: Record<string, unknown>, @Res() reply: FastifyReply) {
    const limit = parseLimit(once(query, 'limit'));
    const page = limit === 0 ? [] : await this.#opStore.streams(once(query, 'after') ?? null, limit);
    const rows = page.map(({ stream, head }) => `{"stream":${JSON.stringify(stream)},"head":${head}}`);
    const next = page.length < limit || limit === 0 ? null : (page.at(-1)?.stream ?? null);
    return send(reply, json(`{"streams":[${rows.join(',')}],"next":${JSON.stringify(next)}}`));
  }

  @Get(':stream')
  async head(@Param('stream') stream: string, @Res() reply: FastifyReply) {
    const head = await this.#opStore.head(stream);
    return send(reply, json(`{"stream":${JSON.stringify(stream)},"head":${head}}`));
  }
}
