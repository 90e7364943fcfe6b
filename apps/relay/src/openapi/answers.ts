import type { SchemaName } from './schemas.ts';

const header = (description: string, schema: object) => ({ description, required: true, schema });

export const headers = {
  'Tidemark-Seq': header('The highest seq of the push, old or new; 0 for an empty push.', {
    type: 'integer',
    format: 'int64',
  }),
  'Tidemark-Head': header('The highest seq that the stream has given.', { type: 'integer', format: 'int64' }),
  'Tidemark-Outcome': header('What is known of the work that was asked for.', {
    enum: ['not-done', 'partly', 'done', 'unknown'],
  }),
  'Retry-After': header('Whole seconds until the same request may succeed.', { type: 'integer', minimum: 0 }),
  'WWW-Authenticate': header('The schemes that are taken.', { type: 'string' }),
  'X-Request-Id': header("The client's own, or a new one; it stands in the relay's log.", { type: 'string' }),
};

export type HeaderName = keyof typeof headers;

/** `None`: an answer without a body. */
type Body = SchemaName | 'text' | 'none';

export function answer(description: string, body: Body, ...extra: HeaderName[]) {
  return {
    description,
    headers: Object.fromEntries(
      ['X-Request-Id', ...extra].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
    ),
    ...(body !== 'none' && { content: body === 'text' ? textContent : jsonContent(body) }),
  };
}

const textContent = { 'text/plain': { schema: { type: 'string' } } };

export const jsonContent = (name: SchemaName) => ({
  'application/json': { schema: { $ref: `#/components/schemas/${name}` } },
});

const refusal = (description: string, body: Body, ...extra: HeaderName[]) =>
  answer(description, body, 'Tidemark-Outcome', ...extra);

/** Of the routes without prefix, whose refusals are text for people, or nothing. */
const wire = {
  Unreadable: refusal(
    'No JSON, no UTF-8, a path or parameter that cannot be read, a stream id that the store cannot hold, or a value out of its bounds.',
    'text',
  ),
  Unauthenticated: refusal('Nobody knows who asks.', 'text', 'WWW-Authenticate'),
  Denied: refusal('Who asks may not do that.', 'text'),
  TooLarge: refusal('The body, or one of its ops, is too large, or there are too many.', 'text'),
  WrongType: refusal('The body is not said to be JSON, or it is compressed.', 'text'),
  Invalid: refusal('JSON of a wrong shape, or an op that the store cannot hold.', 'text'),
  Failed: refusal('The store failed for good, or it is unknown what became of the work.', 'none'),
  Unavailable: refusal('Busy, full, out of reach or out of time.', 'text', 'Retry-After'),
};

/** Of the routes under /v1. */
const own = {
  UnreadableV1: refusal('A path or parameter that cannot be read.', 'Error'),
  UnauthenticatedV1: refusal('Nobody knows who asks.', 'Error', 'WWW-Authenticate'),
  DeniedV1: refusal('Who asks may not do that.', 'Error'),
  NotFoundV1: refusal('There is none.', 'Error'),
  InvalidV1: refusal('What was found cannot be done: the reason for which it was parked.', 'Error'),
  FailedV1: refusal('The store failed for good, or it is unknown what became of the work.', 'Error'),
  UnavailableV1: refusal('Busy, full or out of reach.', 'Error', 'Retry-After'),
};

const shared = {
  AboveHead: refusal(
    'The cursor is above the head: of another log, or of one that was restored. Begin anew from a cursor up to the head.',
    'AboveHead',
    'Tidemark-Head',
    'Retry-After',
  ),
  Unserved: refusal('What is refused before there is a route: a head or a connection that cannot be served.', 'Error'),
};

export const responses = { ...wire, ...own, ...shared };

export type ResponseName = keyof typeof responses;

export const referTo = (name: ResponseName) => ({ $ref: `#/components/responses/${name}` });

const refusalsOf = (of: { [status: number]: ResponseName }) =>
  Object.fromEntries(Object.entries(of).map(([status, name]) => [status, referTo(name)]));

const wireRead = {
  400: 'Unreadable',
  401: 'Unauthenticated',
  403: 'Denied',
  500: 'Failed',
  503: 'Unavailable',
} as const;
const wireWrite = { ...wireRead, 413: 'TooLarge', 415: 'WrongType', 422: 'Invalid' } as const;
const ownRoute = {
  400: 'UnreadableV1',
  401: 'UnauthenticatedV1',
  403: 'DeniedV1',
  500: 'FailedV1',
  503: 'UnavailableV1',
} as const;

const ownNamed = { ...ownRoute, 404: 'NotFoundV1' } as const;
const ownWork = { ...ownNamed, 422: 'InvalidV1' } as const;

const unserved = { default: referTo('Unserved') };

export const wireReadRefusals = { ...refusalsOf(wireRead), ...unserved };
export const wireWriteRefusals = { ...refusalsOf(wireWrite), ...unserved };
export const ownRefusals = { ...refusalsOf(ownRoute), ...unserved };
export const ownNamedRefusals = { ...refusalsOf(ownNamed), ...unserved };
export const ownWorkRefusals = { ...refusalsOf(ownWork), ...unserved };
