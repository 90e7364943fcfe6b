export * from './access.ts';
export type * from './authenticator.ts';
export { callerOf, stillAllowed } from './guard.ts';
