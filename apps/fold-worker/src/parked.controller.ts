import { Controller, Delete, Get, HttpCode, Inject, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FoldOperator } from '@tidemark/libs-fold';
import { Fault } from '@tidemark/libs-kernel';
import { type Logger, json, once, send } from '@tidemark/libs-service-kit';
import type { ParkedOp } from '@tidemark/libs-views-contract';
import { parseInt64 } from '@tidemark/libs-wire';
import { limitOf, recordOf } from './request-parts.ts';
import { LOG, OPERATOR } from './tokens.ts';

/** For operators: ops of a stream that its mark passed although they are not folded (FLD-6). What changes something leaves a line in the log. */
@Controller('v1/streams/:stream/parked')
export class ParkedController {
  readonly #operator: FoldOperator;
  readonly #log: Pick<Logger, 'warn'>;

  constructor(@Inject(OPERATOR) operator: FoldOperator, @Inject(LOG) log: Pick<Logger, 'warn'>) {
    this.#operator = operator;
    this.#log = log;
  }

  /** `{"parked":[...],"next":<last seq, null on the last page>}`. */
  @Get()
  async list(@Param('stream') stream: string, @Query() query: Record<string, unknown>, @Res() reply: FastifyReply) {
    const limit = limitOf(query);
    const after = seqOf('after', once(query, 'after') ?? '0');
    const page = await this.#operator.parked(stream, after, limit);
    const next = page.length < limit ? null : (page.at(-1)?.seq ?? null);
    return send(reply, json(`{"parked":[${page.map(textOf).join()}],"next":${next}}`));
  }

  /** `{"seq","folded","reason"}`. */
  @Post(':seq/retry')
  @HttpCode(200)
  async retry(
    @Param('stream') stream: string,
    @Param('seq') text: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ) {
    const seq = seqOf('seq', text);
    const end = await this.#operator.retry(stream, seq);
    const reason = end.kind === 'parked' ? end.reason : null;
    this.#log.warn({ ...recordOf(request), stream, seq: text, end: end.kind, reason }, 'parked op retried');
    return send(reply, json(`{"seq":${seq},"folded":${end.kind === 'folded'},"reason":${JSON.stringify(reason)}}`));
  }

  @Delete(':seq')
  async drop(
    @Param('stream') stream: string,
    @Param('seq') text: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ) {
    await this.#operator.drop(stream, seqOf('seq', text));
    this.#log.warn({ ...recordOf(request), stream, seq: text }, 'parked op dropped');
    return send(reply, { status: 204, body: '' });
  }
}

function seqOf(name: string, text: string): bigint {
  const seq = parseInt64(text);
  if (seq === null || seq < 0n) throw new Fault('malformed', `${name}: expected a seq`);
  return seq;
}

function textOf({ seq, opId, reason, parkedAtMs, attempts }: ParkedOp): string {
  const rest = { op_id: opId, reason, parked_at: new Date(parkedAtMs).toISOString(), attempts };
  return `{"seq":${seq},${JSON.stringify(rest).slice(1)}`;
}
