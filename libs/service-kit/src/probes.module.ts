import { Controller, type DynamicModule, Get, Inject, Module, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { type Answer, send } from './answer.ts';

export interface Probes {
  live(): Answer;
  ready(): Promise<Answer>;
}

/** Answers the metrics as they are now. */
export type Exposition = () => Promise<Answer>;

const PROBES = Symbol('Probes');
const EXPOSITION = Symbol('Exposition');

/** `/livez` never touches a backend, `/readyz` does with a bound (OPS-1). */
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
}

/** `/metrics` is Prometheus text (OPS-1). */
@Controller()
export class MetricsController {
  readonly #exposition: Exposition;

  constructor(@Inject(EXPOSITION) exposition: Exposition) {
    this.#exposition = exposition;
  }

  @Get('metrics')
  async metrics(@Res() reply: FastifyReply) {
    return send(reply, await this.#exposition());
  }
}

@Module({})
export class ProbesModule {
  /** `exposition` null: the metrics are served elsewhere. */
  static around(service: DynamicModule, probes: Probes, exposition: Exposition | null): DynamicModule {
    return {
      module: ProbesModule,
      imports: [service],
      controllers: exposition === null ? [ProbesController] : [ProbesController, MetricsController],
      providers: [
        { provide: PROBES, useValue: probes },
        { provide: EXPOSITION, useValue: exposition },
      ],
    };
  }
}
