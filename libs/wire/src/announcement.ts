import { Fault } from '@tidemark/libs-kernel';
import { readFields, requiredField, textField } from './fields.ts';

export interface Announcement {
  readonly machineId: string;
  readonly name: string;
  readonly intervalSecs: bigint;
}

/** The shape alone: 'malformed' (400) or 'invalid' (422). Whether the values are fine is {@link announcementProblem}'s. */
export function decodeAnnouncement(body: Uint8Array): Announcement {
  const fields = readFields(body, ['machine_id', 'name', 'interval_secs']);
  return {
    machineId: textField(fields, 'machine_id'),
    name: textField(fields, 'name'),
    intervalSecs: unsigned64(requiredField(fields, 'interval_secs')),
  };
}

/** Why the announcement is refused (400), in one sentence that names the field; the first reason in the order of the fields. */
export function announcementProblem(announcement: Announcement): string | null {
  if (!/^[\x21-\x7e]{1,64}$/.test(announcement.machineId)) {
    return 'machine_id must be 1 to 64 bytes of printable ASCII without spaces.';
  }
  const { intervalSecs } = announcement;
  return (
    nameProblem(announcement.name) ??
    (intervalSecs < 1n || intervalSecs > 3600n ? 'interval_secs must be between 1 and 3600.' : null)
  );
}

/** Characters that are invisible or turn the direction of text around, and so could make one name look like another. */
const DECEPTIVE = /[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/u;

function nameProblem(name: string): string | null {
  if (!/^.{1,64}$/su.test(name)) return 'name must be 1 to 64 characters long.';
  if (/^\p{White_Space}*$/u.test(name)) return 'name must not be blank.';
  if (/\p{Cc}/u.test(name)) return 'name must not hold control characters.';
  if (/(?! )\p{White_Space}/u.test(name)) return 'name must not hold white space other than the plain space.';
  if (DECEPTIVE.test(name)) return 'name must not hold invisible or direction-changing characters.';
  return null;
}

function unsigned64(token: string): bigint {
  const value = /^(?:0|[1-9][0-9]{0,19})$/.test(token) ? BigInt(token) : null;
  if (value === null || value >= 2n ** 64n) {
    throw new Fault('invalid', 'interval_secs: expected an unsigned 64-bit integer');
  }
  return value;
}
