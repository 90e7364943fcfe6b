import type { IncomingMessage } from 'node:http';

/**
 * The target of a request in the one form that routes, refusals and metrics are judged by: without scheme and host, which a proxy's request
 * has, and with no escape of a character that needs none (RFC 3986, 6.2.2.2). It names the same as before.
 */
export function requestTarget({ url = '/' }: IncomingMessage): string {
  const origin = url.startsWith('/') || url === '*' ? url : url.replace(ABSOLUTE, '').replace(/^(?!\/)/, '/');
  const end = origin.search(/[?#]/);
  const path = end < 0 ? origin : origin.slice(0, end);
  if (!path.includes('%')) return origin;
  return path.replace(ESCAPED, decodeURIComponent) + origin.slice(path.length);
}

const ABSOLUTE = /^https?:\/\/[^/?#]*/i;
/** Letters, digits, and - . _ ~ */
const ESCAPED = /%(?:2D|2E|5F|7E|3[0-9]|[46][1-9A-F]|[57][0-9A])/gi;
