import { Controller, Delete, Get, Inject, Param, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Fault, asFault } from '@tidemark/libs-kernel';
import type { OpStore } from '@tidemark/libs-op-store-contract';
import { type Logger, callerOf, json, once, send } from '@tidemark/libs-service-kit';
import { parseListLimit } from '@tidemark/libs-wire';

import { LOG, OP_STORE } from './tokens.ts';

/**
 * For operators: which streams there are (`{"streams":[{"stream","head"}],"next":<last id, null on the last page>}`), what is known of
 * one, and erasing one, which leaves a line in the log (RLY-19).
 */
@Controller('v1/streams')
export class StreamsController {
  readonly #opStore: OpStore;
  readonly #log: Pick<Logger, 'warn'>;

  constructor(@Inject(OP_STORE) opStore: OpStore, @Inject(LOG) log: Pick<Logger, 'warn'>) {
    this.#opStore = opStore;
    this.#log = log;
  }

  @Get()
  async list(@Query() query: Record<string, unknown>, @Res() reply: FastifyReply) {
    const limit = parseListLimit(once(query, 'limit'));
    const page = await this.#opStore.streams(once(query, 'after') ?? null, limit);
    const rows = page.map(({ stream, head }) => `{"stream":${JSON.stringify(stream)},"head":${head}}`);
    const next = page.length < limit ? null : (page.at(-1)?.stream ?? null);
    return send(reply, json(`{"streams":[${rows.join(',')}],"next":${JSON.stringify(next)}}`));
  }

  /** `{"stream","head","burned"}`; takes time proportional to the stream. */
  @Get(':stream')
  async describe(@Param('stream') stream: string, @Res() reply: FastifyReply) {
    const { head, burned } = await this.#opStore.describe(stream);
    return send(reply, json(`{"stream":${JSON.stringify(stream)},"head":${head},"burned":${burned}}`));
  }

  /** `{"stream","erased":<ops removed>,"head"}`. The head stays, and later ops go after it. */
  @Delete(':stream')
  async erase(@Param('stream') stream: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply) {
    const record = { request_id: request.id, caller: callerOf(request), stream };
    this.#log.warn(record, 'a stream is being erased');
    const erased = await this.#opStore.erase(stream);
    this.#log.warn({ ...record, erased: String(erased) }, 'stream erased');
    const head = await this.#opStore.head(stream).catch((thrown: unknown) => {
      const { code, message } = asFault(thrown);
      throw new Fault(code, `erased; ${message}`, { outcome: 'done', cause: thrown });
    });
    return send(reply, json(`{"stream":${JSON.stringify(stream)},"erased":${erased},"head":${head}}`));
  }
}
