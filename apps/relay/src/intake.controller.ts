import { Controller, Get, Inject, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Fault } from '@tidemark/libs-kernel';
import type { Intake } from '@tidemark/libs-relay';
import { json, once, send } from '@tidemark/libs-service-kit';

import { INTAKE, STOPPING } from './tokens.ts';

const WAIT_SECS_MAX = 55;

/** How many events of the queues have not become ops: `{"pending":n}`. With `wait` (seconds) it waits until there are none. */
@Controller('v1/intake')
export class IntakeController {
  readonly #intake: Intake;
  readonly #stopping: AbortSignal;

  constructor(@Inject(INTAKE) intake: Intake, @Inject(STOPPING) stopping: AbortSignal) {
    this.#intake = intake;
    this.#stopping = stopping;
  }

  @Get()
  async pending(@Query() query: Record<string, unknown>, @Res() reply: FastifyReply) {
    const wait = once(query, 'wait') ?? '0';
    if (!/^\d{1,2}$/.test(wait) || Number(wait) > WAIT_SECS_MAX) {
      throw new Fault('malformed', `wait: must be whole seconds from 0 to ${WAIT_SECS_MAX}`);
    }
    const pending = await this.#intake.waitUntilIdle(Number(wait) * 1000, this.#stopping);
    return send(reply, json(`{"pending":${pending}}`));
  }
}
