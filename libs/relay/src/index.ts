export * from './event-op.ts';
export * from './intake.ts';
export * from './machines-service.ts';
export * from './pull-service.ts';
export * from './push-service.ts';
export * from './stream-writer.ts';
