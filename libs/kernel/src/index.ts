export * from './assert.ts';
export * from './backoff.ts';
export * from './clock.ts';
export * from './fault.ts';
export * from './limits.ts';
export * from './random.ts';
export * from './text.ts';
export * from './tracer.ts';
