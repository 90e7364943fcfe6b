import { Controller, Delete, Get, HttpCode, Inject, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DeadLetter } from '@tidemark/libs-broker-contract';
import { Fault } from '@tidemark/libs-kernel';
import type { DeadLetters } from '@tidemark/libs-relay';
import { type Logger, callerOf, json, once, send } from '@tidemark/libs-service-kit';
import { parseListLimit } from '@tidemark/libs-wire';
import { DEAD_LETTERS, LOG } from './tokens.ts';

/** For operators: the events of a tenant that could not become ops. Replaying and dropping leave a line in the log. */
@Controller('v1/dead-letters/:tenant')
export class DeadLettersController {
  readonly #letters: DeadLetters;
  readonly #log: Pick<Logger, 'warn'>;

  constructor(@Inject(DEAD_LETTERS) letters: DeadLetters, @Inject(LOG) log: Pick<Logger, 'warn'>) {
    this.#letters = letters;
    this.#log = log;
  }

  /** `{"dead_letters":[...],"next":<last id, null on the last page>}`, oldest first, without bodies. */
  @Get()
  async list(
    @Param('tenant') tenant: string,
    @Query() query: Record<string, unknown>,
    @Res() reply: FastifyReply,
  ): Promise<FastifyReply> {
    const limit = parseListLimit(once(query, 'limit'));
    const after = parseId('after', once(query, 'after') ?? '0');
    const page = await this.#letters.list(tenant, after, limit);
    const next = page.length < limit ? null : (page.at(-1)?.id ?? null);
    return send(reply, json(`{"dead_letters":[${page.map((letter) => row(letter)).join(',')}],"next":${next}}`));
  }

  /** One of them with its body: `body` where it is UTF-8, else `body_base64`. */
  @Get(':id')
  async show(@Param('tenant') tenant: string, @Param('id') id: string, @Res() reply: FastifyReply) {
    return send(reply, json(row(await this.#letters.find(tenant, parseId('id', id)), true)));
  }

  /** `{"stream","op","seq","stored"}`: where the event is now; `stored` false when it was there already. */
  @Post(':id/replay')
  @HttpCode(200)
  async replay(
    @Param('tenant') tenant: string,
    @Param('id') id: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ) {
    const { stream, opId, outcome } = await this.#letters.replay(tenant, parseId('id', id));
    this.#log.warn({ ...recordOf(request), tenant, id, stream, seq: String(outcome.seq) }, 'dead letter replayed');
    const stored = outcome.kind === 'stored';
    const names = `"stream":${JSON.stringify(stream)},"op":${JSON.stringify(opId)}`;
    return send(reply, json(`{${names},"seq":${outcome.seq},"stored":${stored}}`));
  }

  @Delete(':id')
  async drop(
    @Param('tenant') tenant: string,
    @Param('id') id: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ) {
    await this.#letters.drop(tenant, parseId('id', id));
    this.#log.warn({ ...recordOf(request), tenant, id }, 'dead letter dropped');
    return send(reply, { status: 204, body: '' });
  }
}

const recordOf = (request: FastifyRequest) => ({ request_id: request.id, caller: callerOf(request) });

function parseId(name: string, text: string): bigint {
  if (!/^\d{1,18}$/.test(text)) throw new Fault('malformed', `${name}: expected a number of a dead letter`);
  return BigInt(text);
}

function row(letter: DeadLetter, withBody = false): string {
  const { id, topic, queue, seq, idempotencyKey, reason, parkedAtMs, body } = letter;
  const members: Record<string, unknown> = {
    table: topic.table,
    queue,
    idempotency_key: idempotencyKey,
    reason,
    parked_at: new Date(parkedAtMs).toISOString(),
    bytes: body.length,
    ...(withBody && bodyMember(body)),
  };
  return `{"id":${id},"seq":${seq},${JSON.stringify(members).slice(1)}`;
}

function bodyMember(body: Uint8Array): Record<string, string> {
  try {
    return { body: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body) };
  } catch {
    return { body_base64: Buffer.from(body).toString('base64') };
  }
}
