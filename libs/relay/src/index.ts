export * from './event-op.ts';
export * from './intake.ts';
export * from './machines-service.ts';
export * from './tail-events.ts';
export * from './tail-hub.ts';
export * from './tail-service.ts';
export * from './push-service.ts';
export * from './stream-writer.ts';
