export * from './op.ts';
