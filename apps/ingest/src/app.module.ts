import { type DynamicModule, Module } from '@nestjs/common';
import type { IngestService } from '@tidemark/libs-ingest';
import type { Clock } from '@tidemark/libs-kernel';
import { EventsController } from './events.controller.ts';
import { OpenApiController } from './openapi.controller.ts';
import { TablesController } from './tables.controller.ts';
import * as token from './tokens.ts';

export interface IngestServices {
  readonly service: IngestService;
  readonly clock: Clock;
}

@Module({})
export class AppModule {
  static create({ service, clock }: IngestServices): DynamicModule {
    return {
      module: AppModule,
      controllers: [EventsController, TablesController, OpenApiController],
      providers: [
        { provide: token.INGEST, useValue: service },
        { provide: token.CLOCK, useValue: clock },
      ],
    };
  }
}
