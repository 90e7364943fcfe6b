import type { FaultCode } from '@tidemark/libs-kernel';

/** What an adapter wants of a database, and says of it, otherwise than others do. */
export interface PostgresUse {
  /** Of its service's settings, the one that names the file of further roots. */
  readonly caFileSetting: string;
  /** What Postgres refuses as too large. */
  readonly sized: string;
  /** Whether it relies on the order of texts by their UTF-8 bytes. */
  readonly needsUtf8: boolean;
  /** Whether the text of a fault goes to a client, and so names neither the database nor what it said (SEC-2). */
  isTold(code: FaultCode): boolean;
}
