import type { Statement } from '@tidemark/libs-driver-postgres';

/**
 * Takes the lock that every relay of this protocol takes before it writes to the stream: class 1 for its ops, 2 for its prefixes. It
 * ends with the transaction.
 */
export function streamLock(lockClass: 1 | 2, stream: string): Statement {
  return { text: `SELECT pg_advisory_xact_lock(${lockClass}, hashtext($1))`, values: [stream] };
}
