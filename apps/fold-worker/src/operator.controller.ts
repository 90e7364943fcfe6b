import { Controller, Get, Inject, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type FoldOperator, type StreamStatus, buildText, holesText, revisionsText } from '@tidemark/libs-fold';
import { type Answer, type Logger, json, once, send } from '@tidemark/libs-service-kit';
import type { StreamMark } from '@tidemark/libs-views-contract';
import { limitOf, recordOf } from './request-parts.ts';
import { LOG, OPERATOR } from './tokens.ts';

/** For operators: how far this worker is behind, which marks have holes, and folding anew. */
@Controller('v1')
export class OperatorController {
  readonly #operator: FoldOperator;
  readonly #log: Pick<Logger, 'warn'>;

  constructor(@Inject(OPERATOR) operator: FoldOperator, @Inject(LOG) log: Pick<Logger, 'warn'>) {
    this.#operator = operator;
    this.#log = log;
  }

  @Get('fold')
  async status(@Res() reply: FastifyReply) {
    const { pending, lagOps, heldOps, stuck, oldestMs, chores, feedFault, revisions } = this.#operator.status();
    const more = { oldest_ms: Math.round(oldestMs), chores, stuck, feed_fault: feedFault?.message ?? null };
    const rest = JSON.stringify(more).slice(1);
    return send(
      reply,
      json(
        `{"pending":${pending},"lag_ops":${lagOps},"held_ops":${heldOps},"revisions":${revisionsText(revisions)},${rest}`,
      ),
    );
  }

  /** `{"streams":[{"stream","epoch","folded_through","head","lag_ops",...}],"next":<last stream, null on the last page>}`. */
  @Get('fold/streams')
  async streams(@Query() query: Record<string, unknown>, @Res() reply: FastifyReply) {
    const { streams, next } = await this.#operator.streams(once(query, 'after') ?? null, limitOf(query));
    return send(reply, json(`{"streams":[${streams.map(statusText).join()}],"next":${JSON.stringify(next)}}`));
  }

  /** `{"streams":[{"stream","folded_through","holes"}],"next":<last stream, null on the last page>}`. */
  @Get('fold/holes')
  async holes(@Query() query: Record<string, unknown>, @Res() reply: FastifyReply) {
    const { streams, next } = await this.#operator.holes(once(query, 'after') ?? null, limitOf(query));
    return send(reply, json(`{"streams":[${streams.map(textOf).join()}],"next":${JSON.stringify(next)}}`));
  }

  /** `{"streams":<how many of this page were begun>,"next":<last stream, null on the last page>}`. */
  @Post('fold/rebuild')
  async rebuildAll(
    @Query() query: Record<string, unknown>,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ) {
    const after = once(query, 'after') ?? null;
    const { streams, next } = await this.#operator.rebuildAll(after, limitOf(query));
    this.#log.warn({ ...recordOf(request), after, streams: streams.length }, 'rebuild of a page of streams asked for');
    return send(reply, begun(`{"streams":${streams.length},"next":${JSON.stringify(next)}}`));
  }

  @Post('streams/:stream/rebuild')
  async rebuild(@Param('stream') stream: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply) {
    const epoch = await this.#operator.rebuild(stream);
    this.#log.warn({ ...recordOf(request), stream, epoch }, 'rebuild asked for');
    return send(reply, begun(`{"stream":${JSON.stringify(stream)},"epoch":${epoch}}`));
  }
}

const begun = (body: string): Answer => ({ status: 202, body });

function statusText({ stream, mark, head, lagOps, oldestHoleMs, build }: StreamStatus): string {
  const { epoch, watermark } = mark;
  return (
    `{"stream":${JSON.stringify(stream)},"epoch":${epoch},"folded_through":${watermark.foldedThrough},"head":${head},` +
    `"lag_ops":${lagOps},"oldest_hole_ms":${oldestHoleMs},"build":${build === null ? 'null' : buildText(build)}}`
  );
}

function textOf({ stream, mark: { watermark } }: StreamMark): string {
  const { foldedThrough, holes } = watermark;
  return `{"stream":${JSON.stringify(stream)},"folded_through":${foldedThrough},"holes":${holesText(holes)}}`;
}
