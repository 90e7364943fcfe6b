export * from './accept.ts';
export * from './broker.ts';
