import { ServiceError } from './service-error.ts';

/** A stream, kind or id in a path. Rejects what no request can name: fetch takes `.` and `..` for steps, also when they are escaped. */
export function segment(text: string): string {
  if (text !== '' && text !== '.' && text !== '..' && text.isWellFormed()) return encodeURIComponent(text);
  throw new ServiceError(`${JSON.stringify(text)} cannot be named in a path`, { status: null, outcome: 'not-done' });
}
