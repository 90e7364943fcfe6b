import { Controller, Get, Inject, Param, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Fault } from '@tidemark/libs-kernel';
import type { AboveHead, TailService } from '@tidemark/libs-relay';
import { type Answer, once, send, sendJson, stillAllowed, waitMs, whenGone } from '@tidemark/libs-service-kit';
import { parseCursor, parseLimit } from '@tidemark/libs-wire';
import { ResponseSink, beginEvents } from './event-sink.ts';
import { PULL } from './tokens.ts';

@Controller()
export class PullController {
  readonly #tail: TailService;

  constructor(@Inject(PULL) tail: TailService) {
    this.#tail = tail;
  }

  @Get('streams/:stream/ops')
  async pull(
    @Param('stream') stream: string,
    @Query() query: Record<string, unknown>,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ) {
    const since = parseCursor(once(query, 'since'));
    const limit = parseLimit(once(query, 'limit'));
    const wait = waitMs(query);
    if (wantsEvents(request)) return this.#follow(stream, resumedAt(request) ?? since, limit, request, reply);
    const pulled = await this.#tail.pull(stream, since, limit, wait, whenGone(request, reply));
    // Whoever waited may have lost the right to read meanwhile.
    if (wait > 0 && !(await stillAllowed(request)))
      throw new Fault('denied', 'the right to read this stream has ended');
    if (pulled.kind === 'above_head') return send(reply, aboveHeadAnswer(pulled));
    return sendJson(reply, pulled.page.bytes, NOT_STORED);
  }

  async #follow(stream: string, since: bigint, limit: number, request: FastifyRequest, reply: FastifyReply) {
    if (limit === 0) throw new Fault('malformed', 'limit: must be at least 1 for a stream of events');
    const followed = await this.#tail.follow(stream, since, limit, whenGone(request, reply));
    if (followed.kind === 'above_head') return send(reply, aboveHeadAnswer(followed));
    const response = beginEvents(reply);
    if (request.method !== 'HEAD') return followed.events.run(new ResponseSink(response), () => stillAllowed(request));
    followed.events.leave();
    response.end();
  }
}

const NOT_STORED = { 'cache-control': 'no-store' };

/** Whether `Accept` names server-sent events, and does not rule them out. */
function wantsEvents({ headers }: FastifyRequest): boolean {
  return (headers.accept ?? '').split(',').some((range) => {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return type === 'text/event-stream' && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

/** Where a client that was cut off goes on; what its address says is from its first connection. */
function resumedAt({ headers }: FastifyRequest): bigint | null {
  const id = headers['last-event-id'];
  if (id === undefined || id === '') return null;
  try {
    return parseCursor(String(id));
  } catch {
    throw new Fault('malformed', 'Last-Event-ID: expected a signed 64-bit integer');
  }
}

/** A cursor above the head does not get right by asking again: the client has to begin anew, from a cursor up to the head. */
function aboveHeadAnswer({ head }: AboveHead): Answer {
  const headers = { ...NOT_STORED, 'tidemark-head': String(head), 'tidemark-outcome': 'not-done', 'retry-after': '5' };
  return { status: 409, body: `{"error":"the cursor is above the head of the stream","head":${head}}`, headers };
}
