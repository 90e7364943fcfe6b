import type { IncomingHttpHeaders } from 'node:http';

export const ACTIONS = ['read', 'write', 'admin'] as const;
/** None includes another: who may write may not read for that. */
export type Action = (typeof ACTIONS)[number];

/** In place of a stream: a right on one of them, whichever, is enough. */
export const SOME_STREAM = Symbol('some stream');

/** What a request wants to do. */
export interface Need {
  readonly action: Action;
  /** null: what it touches belongs to no tenant, or to all of them. */
  readonly tenant: string | null;
  /** null: it touches all streams. */
  readonly stream: string | typeof SOME_STREAM | null;
}

/** A right that a caller has. A stream may be named by its beginning: `acme.*`. */
export interface Grant {
  readonly actions: readonly Action[];
  readonly tenants: '*' | readonly string[];
  readonly streams: '*' | readonly string[];
}

/** A request by what is known of it before its body arrives; parameters are percent-decoded. */
export interface RouteRequest {
  readonly method: string;
  /** The route as it was declared: `/streams/:stream/ops`. */
  readonly route: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: IncomingHttpHeaders;
}

/**
 * What each route of a service needs. Pure. undefined: the route has no rule, and nobody may use it: a route that is added without one
 * is closed, not open.
 */
export type Access = (request: RouteRequest) => Need | undefined;

/** Whether one grant alone covers the whole need; two halves of different grants never do. */
export function mayDo(grants: readonly Grant[], need: Need): boolean {
  return grants.some(
    ({ actions, tenants, streams }) =>
      actions.includes(need.action) && covers(tenants, need.tenant, same) && covers(streams, need.stream, matches),
  );
}

/** Only `*` covers what has no name of its own. */
function covers<Wanted>(
  granted: '*' | readonly string[],
  wanted: Wanted | null,
  fits: (granted: string, wanted: Wanted) => boolean,
): boolean {
  return granted === '*' || (wanted !== null && granted.some((one) => fits(one, wanted)));
}

const same = (granted: string, wanted: string): boolean => granted === wanted;

function matches(pattern: string, stream: string | typeof SOME_STREAM): boolean {
  if (stream === SOME_STREAM) return true;
  return pattern.endsWith('*') ? stream.startsWith(pattern.slice(0, -1)) : stream === pattern;
}

/** The need in words, for a refusal. */
export function describeNeed({ action, tenant, stream }: Need): string {
  const where =
    stream === null ? 'all streams' : stream === SOME_STREAM ? 'any stream' : `stream ${JSON.stringify(stream)}`;
  return `${action} on ${where}${tenant === null ? '' : ` of tenant ${JSON.stringify(tenant)}`}`;
}
