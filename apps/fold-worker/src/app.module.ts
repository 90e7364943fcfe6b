import { type DynamicModule, Module } from '@nestjs/common';
import type { FoldWorker } from '@tidemark/libs-fold';
import type { Views } from '@tidemark/libs-views-contract';
import { DocumentsController } from './documents.controller.ts';
import * as token from './tokens.ts';
import { minSeqWait } from './wait.ts';
import { WatermarkController } from './watermark.controller.ts';

export interface FoldServices {
  readonly worker: FoldWorker;
  readonly views: Views;
  readonly stopping: AbortSignal;
}

@Module({})
export class AppModule {
  static create({ worker, views, stopping }: FoldServices): DynamicModule {
    return {
      module: AppModule,
      controllers: [WatermarkController, DocumentsController],
      providers: [
        { provide: token.VIEWS, useValue: views },
        { provide: token.MIN_SEQ_WAIT, useValue: minSeqWait(worker, stopping) },
      ],
    };
  }
}
