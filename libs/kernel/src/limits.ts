/** Bounds that more than one package must agree on. Bounds of one package live beside their use. */

/** Relay: body of a push or register, inclusive. */
export const PUSH_BODY_BYTES_MAX = 8 * 1024 * 1024;
/** Relay: ops in one push, inclusive. */
export const PUSH_OPS_MAX = 1000;
/** Relay: members beyond the protocol's own that a pushed op may have, inclusive; repeated ones count. What is stored may have more. */
export const OP_EXTRA_MEMBERS_MAX = 1000;
/** Relay: such members of all ops of one push together, inclusive: reading and writing them takes longer than anything else of a push. */
export const PUSH_EXTRA_MEMBERS_MAX = 20_000;
/** Relay: body of an announcement, inclusive. */
export const PRESENCE_BODY_BYTES_MAX = 4096;
/** Relay: ops in a page when `limit` is not given. */
export const PULL_OPS_DEFAULT = 500;
/** Relay: larger limits are clamped to this. */
export const PULL_OPS_MAX = 10_000;
/** Relay: a page ends at this many bytes of ops, but holds at least one op (RLY-1). */
export const PULL_PAGE_BYTES_MAX = 8 * 1024 * 1024;
/** Ingest: request body, inclusive. */
export const INGEST_BODY_BYTES_MAX = 16 * 1024 * 1024;
/** Ingest: records in one window of reserve, publish, commit (ING-2). */
export const WINDOW_RECORDS_MAX = 256;
/** Ingest: per-record results echoed in an answer; the counts stay exact. */
export const RESULTS_MAX = 10_000;
/** Nesting of a JSON document that is accepted anywhere. */
export const JSON_DEPTH_MAX = 512;
/** Fold: UTF-8 bytes of a document's kind or id. It must fit a path and a page's cursor however it is escaped. */
export const DOCUMENT_NAME_BYTES_MAX = 1024;
/** Dedupe: how long a claim is held for its owner. */
export const LEASE_MS_DEFAULT = 30_000;
/** Broker: how long a repeat of an idempotency key is dropped. */
export const DUPLICATE_WINDOW_MS = 120_000;
