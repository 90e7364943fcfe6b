import { createHash } from 'node:crypto';
import { loneSurrogate, utf8Bytes } from './unicode.ts';

/** An id whose escaped form is longer than this is stored by its hash. */
const ESCAPED_ID_MAX = 1024;

/**
 * The text as one token of `A-Z a-z 0-9 _ -`, every other UTF-8 byte as `%XX`: safe in subjects, keys and file names. Different texts
 * give different tokens. A lone surrogate is a Fault 'invalid'.
 */
export function escapeToken(text: string): string {
  if (/^[A-Za-z0-9_-]*$/.test(text)) return text;
  if (!text.isWellFormed()) throw loneSurrogate();
  return encodeURIComponent(text).replace(/[.!~*'()]/g, percent);
}

/** The text behind a token, also behind one that an older or laxer writer escaped (`%2D`, lower-case digits); null when there is none. */
export function unescapeToken(token: string): string | null {
  if (!/^[A-Za-z0-9_%-]*$/.test(token)) return null;
  try {
    return decodeURIComponent(token);
  } catch {
    return null;
  }
}

/** Where a deduplicated id is stored: `<tenant>/<table>/<id>`, a long id as `#` and its SHA-256. Different ids give different keys. */
export function storedKey(tenant: string, table: string, id: string): string {
  const escaped = escapeToken(id);
  const short = escaped.length <= ESCAPED_ID_MAX ? escaped : `#${sha256(id)}`;
  return `${escapeToken(tenant)}/${escapeToken(table)}/${short}`;
}

/** 32 hex digits by which the broker and the relay's intake know a repeated event. */
export function idempotencyKey(tenant: string, table: string, id: string): string {
  return sha256(storedKey(tenant, table, id)).slice(0, 32);
}

/** The relay stream that a table's events go to. */
export function streamName(tenant: string, table: string): string {
  return `${escapeToken(tenant)}.${escapeToken(table)}`;
}

/** The inverse of {@link streamName}; null for a stream that no table has. */
export function parseStreamName(stream: string): { readonly tenant: string; readonly table: string } | null {
  const [tenantToken, tableToken, rest] = stream.split('.', 3);
  if (tenantToken === undefined || tableToken === undefined || rest !== undefined) return null;
  const tenant = unescapeToken(tenantToken);
  const table = unescapeToken(tableToken);
  if (tenant === null || table === null) return null;
  return streamName(tenant, table) === stream ? { tenant, table } : null;
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

function sha256(text: string): string {
  return createHash('sha256').update(utf8Bytes(text)).digest('hex');
}
