import type { Statement } from '@tidemark/libs-driver-postgres';

/** Taken before an epoch of the stream begins or ends; the op store beside has the classes 1 to 3. It ends with the transaction. */
export function epochLock(stream: string): Statement {
  return { text: 'SELECT pg_advisory_xact_lock(4, hashtext($1))', values: [stream] };
}
