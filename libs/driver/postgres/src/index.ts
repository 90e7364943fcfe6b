/** How Postgres is reached and written, and what its errors mean, for the adapters that keep something there. */
export { type Address, isLoopback, parseAddress, type TlsMode } from './address.ts';
export { type Ask, type ConnectionOptions, PostgresConnection, type Statement } from './connection.ts';
export { mapError } from './map-error.ts';
export { type OpenPool, openPool, type PoolOptions } from './open-pool.ts';
export { negotiateTls, type TlsOptions } from './tls.ts';
export type { PostgresUse } from './use.ts';
