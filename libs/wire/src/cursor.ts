import { Fault, PULL_OPS_DEFAULT, PULL_OPS_MAX } from '@tidemark/libs-kernel';
import { I64_MAX, I64_MIN, U64_MAX } from './int64.ts';

/** The query parameter `since`: a signed 64-bit integer, 0 when it is not given. Negative is allowed and comes back as it was sent. */
export function parseCursor(text: string | undefined): bigint {
  if (text === undefined) return 0n;
  // A sign and leading zeros are read as the reference's parser reads them; past 19 digits nothing is in range.
  const [, sign, digits] = /^([+-]?)0*([0-9]{1,19})$/.exec(text) ?? [];
  const magnitude = digits === undefined ? null : BigInt(digits);
  const cursor = magnitude === null ? null : sign === '-' ? -magnitude : magnitude;
  if (cursor === null || cursor < I64_MIN || cursor > I64_MAX) {
    throw new Fault('malformed', 'since: expected a signed 64-bit integer');
  }
  return cursor;
}

/** The query parameter `limit`: unsigned 64-bit, PULL_OPS_DEFAULT when it is not given, never above PULL_OPS_MAX. 0 asks for nothing. */
export function parseLimit(text: string | undefined): number {
  if (text === undefined) return PULL_OPS_DEFAULT;
  const [, digits] = /^\+?0*([0-9]{1,20})$/.exec(text) ?? [];
  if (digits === undefined || BigInt(digits) > U64_MAX) {
    throw new Fault('malformed', 'limit: expected an unsigned 64-bit integer');
  }
  return Math.min(Number(digits), PULL_OPS_MAX);
}

/** The `limit` of a list, whose end is said beside its entries: an empty page would look like the last one, so 0 is refused. */
export function parseListLimit(text: string | undefined): number {
  const limit = parseLimit(text);
  if (limit === 0) throw new Fault('malformed', 'limit: must be at least 1');
  return limit;
}
