export * from './access.ts';
export type * from './authenticator.ts';
export { problemsOf } from './grants.ts';
export { callerOf, identityOf, stillAllowed } from './guard.ts';
