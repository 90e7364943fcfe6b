import { Controller, Get, Inject, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Intake } from '@tidemark/libs-relay';
import { json, send, waitMs } from '@tidemark/libs-service-kit';

import { INTAKE, STOPPING } from './tokens.ts';

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
    const pending = await this.#intake.waitUntilIdle(waitMs(query), this.#stopping);
    return send(reply, json(`{"pending":${pending}}`));
  }
}
