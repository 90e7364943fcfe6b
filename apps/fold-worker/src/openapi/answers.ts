import type { SchemaName } from './schemas.ts';

const header = (description: string, schema: object, required = true) => ({ description, required, schema });

export const headers = {
  'Tidemark-Outcome': header('What is known of the work that was asked for.', {
    enum: ['not-done', 'partly', 'done', 'unknown'],
  }),
  'Retry-After': header('Whole seconds until the same request may succeed.', { type: 'integer', minimum: 0 }, false),
  'WWW-Authenticate': header('The schemes that are taken.', { type: 'string' }),
  'X-Request-Id': header("The client's own, or a new one; it stands in the log.", { type: 'string' }),
};

export type HeaderName = keyof typeof headers;

export function answer(description: string, body: SchemaName | 'text' | 'none', ...extra: HeaderName[]) {
  return {
    description,
    headers: Object.fromEntries(
      ['X-Request-Id', ...extra].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
    ),
    ...(body === 'none' ? {} : { content: contentOf(body) }),
  };
}

const contentOf = (body: SchemaName | 'text') =>
  body === 'text'
    ? { 'text/plain': { schema: { type: 'string' } } }
    : { 'application/json': { schema: { $ref: `#/components/schemas/${body}` } } };

const refusal = (description: string, ...extra: HeaderName[]) =>
  answer(description, 'Error', 'Tidemark-Outcome', ...extra);

export const responses = {
  Unreadable: refusal('A path or parameter that cannot be read.'),
  Unauthenticated: refusal('Nobody knows who asks.', 'WWW-Authenticate'),
  Denied: refusal('Who asks may not do this.'),
  NotFound: refusal('No such document, stream or parked op.'),
  Conflict: refusal('Another build of the stream is on, or another worker was faster.'),
  Late: answer('Not folded so far in time; nothing was read.', 'Late', 'Tidemark-Outcome'),
  Failed: refusal('A store failed for good.'),
  Unavailable: refusal('A store is out of reach, or too many wait.', 'Retry-After'),
  Unserved: refusal('What is refused before there is a route: a head or a connection that cannot be served.'),
};

export type ResponseName = keyof typeof responses;

const referTo = (name: ResponseName) => ({ $ref: `#/components/responses/${name}` });

export const refusals = {
  400: referTo('Unreadable'),
  401: referTo('Unauthenticated'),
  403: referTo('Denied'),
  500: referTo('Failed'),
  503: referTo('Unavailable'),
  default: referTo('Unserved'),
};
export const readRefusals = { ...refusals, 504: referTo('Late') };
export const notFound = { 404: referTo('NotFound') };
export const conflict = { 409: referTo('Conflict') };
