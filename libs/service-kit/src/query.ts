import { Fault } from '@tidemark/libs-kernel';

/** A query parameter that may stand once; undefined when it is absent. Fault `malformed` naming it when it is repeated. */
export function once(query: Record<string, unknown>, name: string): string | undefined {
  const value = query[name];
  if (value === undefined || typeof value === 'string') return value;
  throw new Fault('malformed', `${name}: given more than once`);
}
