/** What breaks or holds up a connection to Postgres, for tests. */
export { Proxy } from './proxy.ts';
