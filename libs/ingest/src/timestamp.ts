import { JsonNumber, type JsonValue } from '@tidemark/libs-wire';
import type { Field } from './field.ts';

/** What a number counts since 1970 UTC. */
export type EpochUnit = 's' | 'ms' | 'us' | 'ns';

export const EPOCH_UNITS: readonly EpochUnit[] = ['s', 'ms', 'us', 'ns'];

/** A member whose value is brought to one spelling of time. */
export interface TimestampField extends Field {
  /** Null: numbers are left as they are. */
  readonly epoch: EpochUnit | null;
}

/**
 * The moment as RFC 3339 in UTC (`2026-11-30T01:02:03.5Z`), so that all readers see one spelling. Digits of a fraction stay as they were
 * written. Null for what names no moment: the caller leaves it as it is, for whoever stores it to judge.
 */
export function canonicalTime(value: JsonValue, epoch: EpochUnit | null): string | null {
  if (typeof value === 'string') return ofText(value);
  return value instanceof JsonNumber && epoch !== null ? ofEpoch(value.text, epoch) : null;
}

const WRITTEN = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(\.\d{1,18})?(?:[Zz]|([+-])(\d\d)(?::?(\d\d))?)?$/;

/** RFC 3339, and what is often written for it: a blank for the T, an offset without colon or minutes, no offset (UTC). */
function ofText(text: string): string | null {
  const match = WRITTEN.exec(text);
  if (match === null) return null;
  const [, year, month, day, hour, minute, second, fraction = '', sign, offsetHours = '0', offsetMinutes = '0'] = match;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return null;
  if (Number(offsetHours) > 23 || Number(offsetMinutes) > 59) return null;
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * (sign === '-' ? -1 : 1);
  const moment = new Date(0);
  moment.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  if (moment.getUTCMonth() !== Number(month) - 1 || moment.getUTCDate() !== Number(day)) return null;
  moment.setUTCHours(Number(hour), Number(minute) - offset);
  // Offsets are whole minutes, so the seconds stay as they were written, a leap second too.
  return written(moment, `${second}${fraction}`);
}

const DIGITS: Readonly<Record<EpochUnit, number>> = { s: 0, ms: 3, us: 6, ns: 9 };

function ofEpoch(token: string, unit: EpochUnit): string | null {
  const match = /^(-?\d{1,30})(\.\d{1,18})?$/.exec(token);
  const [, whole = '', fraction = ''] = match ?? [];
  if (match === null || (fraction !== '' && (unit !== 's' || whole.startsWith('-')))) return null;
  const digits = DIGITS[unit];
  const perSecond = 10n ** BigInt(digits);
  const count = BigInt(whole);
  const rest = ((count % perSecond) + perSecond) % perSecond;
  const moment = new Date(Number((count - rest) / perSecond) * 1000);
  if (Number.isNaN(moment.getTime())) return null;
  const second = String(moment.getUTCSeconds()).padStart(2, '0');
  return written(moment, digits === 0 ? `${second}${fraction}` : `${second}.${String(rest).padStart(digits, '0')}`);
}

/** The moment down to its minute, and the seconds as text. Null outside the years 0000 to 9999, which RFC 3339 cannot write. */
function written(moment: Date, seconds: string): string | null {
  const year = moment.getUTCFullYear();
  if (year < 0 || year > 9999) return null;
  return `${moment.toISOString().slice(0, 'YYYY-MM-DDTHH:MM:'.length)}${seconds}Z`;
}
