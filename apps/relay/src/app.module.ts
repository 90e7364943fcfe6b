import { type DynamicModule, Module } from '@nestjs/common';
import type { DeadLetters, Intake, MachinesService, PushService, TailService } from '@tidemark/libs-relay';
import type { OpStore, PrefixRegistry } from '@tidemark/libs-op-store-contract';
import type { Logger } from '@tidemark/libs-service-kit';
import { DeadLettersController } from './dead-letters.controller.ts';
import { IntakeController } from './intake.controller.ts';
import { MachinesController } from './machines.controller.ts';
import { OpenApiController } from './openapi.controller.ts';
import { PullController } from './pull.controller.ts';
import { PushController } from './push.controller.ts';
import { RegisterController } from './register.controller.ts';
import { StreamsController } from './streams.controller.ts';
import * as token from './tokens.ts';

export interface RelayServices {
  readonly opStore: OpStore;
  readonly push: PushService;
  readonly pull: TailService;
  readonly registry: PrefixRegistry;
  /** null: this relay notes no presence; its routes do not exist (404), as older clients take it. */
  readonly machines: MachinesService | null;
  /** null: this replica takes no events from the broker. */
  readonly intake: Intake | null;
  /** null: as the intake. */
  readonly deadLetters: DeadLetters | null;
  readonly stopping: AbortSignal;
  readonly log: Pick<Logger, 'warn'>;
}

@Module({})
export class AppModule {
  static create(services: RelayServices): DynamicModule {
    return {
      module: AppModule,
      controllers: [
        PushController,
        PullController,
        RegisterController,
        ...(services.machines === null ? [] : [MachinesController]),
        StreamsController,
        OpenApiController,
        ...(services.intake === null ? [] : [IntakeController]),
        ...(services.deadLetters === null ? [] : [DeadLettersController]),
      ],
      providers: [
        { provide: token.OP_STORE, useValue: services.opStore },
        { provide: token.PUSH, useValue: services.push },
        { provide: token.PULL, useValue: services.pull },
        { provide: token.REGISTRY, useValue: services.registry },
        { provide: token.MACHINES, useValue: services.machines },
        { provide: token.INTAKE, useValue: services.intake },
        { provide: token.DEAD_LETTERS, useValue: services.deadLetters },
        { provide: token.LOG, useValue: services.log },
        { provide: token.STOPPING, useValue: services.stopping },
      ],
    };
  }
}
