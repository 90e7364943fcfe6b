import { Fault } from '@tidemark/libs-kernel';

/** A query parameter that may stand once; undefined when it is absent. Fault `malformed` naming it when it is repeated. */
export function once(query: Record<string, unknown>, name: string): string | undefined {
  const value = query[name];
  if (value === undefined || typeof value === 'string') return value;
  throw new Fault('malformed', `${name}: given more than once`);
}

const WAIT_SECS_MAX = 55;

/** The parameter `wait` (whole seconds up to 55, below the idle limit of usual proxies; default 0) in milliseconds. */
export function waitMs(query: Record<string, unknown>): number {
  const text = once(query, 'wait') ?? '0';
  if (/^\d{1,2}$/.test(text) && Number(text) <= WAIT_SECS_MAX) return Number(text) * 1000;
  throw new Fault('malformed', `wait: must be whole seconds from 0 to ${WAIT_SECS_MAX}`);
}
