import { Controller, type DynamicModule, Get, Inject, Module, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { type Answer, send } from './answer.ts';

export interface Probes {
  live(): Answer;
  ready(): Promise<Answer>;
  metrics(): Promise<Answer>;
}

const PROBES = Symbol('Probes');

/** `/livez` never touches a backend, `/readyz` does with a bound, `/metrics` is Prometheus text (OPS-1). */
@Controller()
export class ProbesController {
  readonly #probes: Probes;

  constructor(@Inject(PROBES) probes: Probes) {
    this.#probes = probes;
  }

  @Get('livez')
  livez(@Res() reply: FastifyReply) {
    return send(reply, this.#probes.live());
  }

  @Get('readyz')
  async readyz(@Res() reply: FastifyReply) {
    return send(reply, await this.#probes.ready());
  }

  @Get('metrics')
  async metrics(@Res() reply: FastifyReply) {
    return send(reply, await this.#probes.metrics());
  }
}

@Module({})
export class ProbesModule {
  static around(service: DynamicModule, probes: Probes): DynamicModule {
    return {
      module: ProbesModule,
      imports: [service],
      controllers: [ProbesController],
      providers: [{ provide: PROBES, useValue: probes }],
    };
  }
}
