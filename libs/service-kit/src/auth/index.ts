export * from './access.ts';
export type * from './authenticator.ts';
export { callerOf } from './guard.ts';
