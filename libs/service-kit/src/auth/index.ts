export * from './access.ts';
export type * from './authenticator.ts';
export { problemsOf } from './grants.ts';
export { callerOf, guardOf, identityOf, stillAllowed } from './guard.ts';
export { openJwt } from './jwt.ts';
export { readJwtKey } from './jwt-key.ts';
