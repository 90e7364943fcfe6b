import { type DynamicModule, Module } from '@nestjs/common';
import type { FoldOperator } from '@tidemark/libs-fold';
import type { Logger } from '@tidemark/libs-service-kit';
import type { Views } from '@tidemark/libs-views-contract';
import { DocumentsController } from './documents.controller.ts';
import { OpenApiController } from './openapi.controller.ts';
import { OperatorController } from './operator.controller.ts';
import { ParkedController } from './parked.controller.ts';
import * as token from './tokens.ts';
import type { ReadWait } from './wait.ts';
import { WatermarkController } from './watermark.controller.ts';

export interface FoldServices {
  readonly views: Views;
  readonly wait: ReadWait;
  readonly operator: FoldOperator;
  readonly log: Pick<Logger, 'warn'>;
}

@Module({})
export class AppModule {
  static create({ views, wait, operator, log }: FoldServices): DynamicModule {
    return {
      module: AppModule,
      controllers: [WatermarkController, DocumentsController, ParkedController, OperatorController, OpenApiController],
      providers: [
        { provide: token.VIEWS, useValue: views },
        { provide: token.READ_WAIT, useValue: wait },
        { provide: token.OPERATOR, useValue: operator },
        { provide: token.LOG, useValue: log },
      ],
    };
  }
}
