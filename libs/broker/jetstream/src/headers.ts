import { type MsgHdrs, headers } from 'nats';

/** The server's name for the id by which it drops repeats. */
const ID_HEADER = 'Nats-Msg-Id';
/** Beside an id that is nobody's idempotency key. */
const KEYLESS_HEADER = 'Tidemark-Keyless';

/** What the server knows a message by. */
export interface MessageId {
  readonly text: string;
  /** It is no idempotency key, but drawn for this message, so that our own repeats are known. */
  readonly drawn: boolean;
}

export function headersOf({ drawn }: MessageId): MsgHdrs {
  const own = headers();
  if (drawn) own.set(KEYLESS_HEADER, '1');
  return own;
}

/** The key that a message was published with. */
export function keyOf(headers: MsgHdrs | undefined): string | null {
  if (!headers || headers.has(KEYLESS_HEADER) || !headers.has(ID_HEADER)) return null;
  return unescapeKey(headers.get(ID_HEADER));
}

/** A key as a header's value: what is no printable ASCII goes by its bytes. A key of letters, digits and signs is as it was. */
export function escapeKey(key: string): string {
  return key.replace(/[^\x21-\x24\x26-\x7e]/gu, encodeURIComponent);
}

/** A value that nobody of ours escaped is kept as it is. */
export function unescapeKey(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
