import type { SchemaName } from './schemas.ts';

const header = (description: string, schema: object) => ({ description, required: true, schema });

export const headers = {
  'Tidemark-Op': {
    ...header('Of a single object with an id: the id of the op that it becomes.', { type: 'string' }),
    required: false,
  },
  'Tidemark-Outcome': header('What is known of the work that was asked for.', {
    enum: ['not-done', 'partly', 'done', 'unknown'],
  }),
  'Retry-After': {
    ...header('Whole seconds until the same request may succeed.', { type: 'integer', minimum: 0 }),
    required: false,
  },
  'Accept-Encoding': {
    ...header('Of a refused Content-Encoding: what is taken.', { type: 'string' }),
    required: false,
  },
  'WWW-Authenticate': header('The schemes that are taken.', { type: 'string' }),
  'X-Request-Id': header("The client's own, or a new one; it stands in the log.", { type: 'string' }),
};

export type HeaderName = keyof typeof headers;

export function answer(description: string, body: SchemaName | 'text', ...extra: HeaderName[]) {
  return {
    description,
    headers: Object.fromEntries(
      ['X-Request-Id', ...extra].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
    ),
    content: body === 'text' ? { 'text/plain': { schema: { type: 'string' } } } : jsonContent(body),
  };
}

export const jsonContent = (name: SchemaName) => ({
  'application/json': { schema: { $ref: `#/components/schemas/${name}` } },
});

const refusal = (description: string, ...extra: HeaderName[]) =>
  answer(description, 'Error', 'Tidemark-Outcome', ...extra);

export const responses = {
  Unreadable: refusal(
    'No JSON, no UTF-8, a parameter or header that cannot be read, or a record that its table refuses.',
  ),
  Unauthenticated: refusal('Nobody knows who asks.', 'WWW-Authenticate'),
  Denied: refusal('Who asks may not write there, or not this.'),
  NotFound: refusal('No such tenant or table.'),
  TooLarge: refusal('The body, or the record, is too large.'),
  WrongType: refusal('A Content-Type or Content-Encoding that is not taken.', 'Accept-Encoding'),
  Failed: refusal('A store failed for good, or it is unknown whether the event is queued.'),
  Unavailable: refusal('Busy, full, out of reach, in flight elsewhere, or settings that are wrong.', 'Retry-After'),
  Unserved: refusal('What is refused before there is a route: a head or a connection that cannot be served.'),
};

export type ResponseName = keyof typeof responses;

export const referTo = (name: ResponseName) => ({ $ref: `#/components/responses/${name}` });

const whoever = {
  400: referTo('Unreadable'),
  401: referTo('Unauthenticated'),
  403: referTo('Denied'),
  500: referTo('Failed'),
  503: referTo('Unavailable'),
  default: referTo('Unserved'),
};

export const probeRefusals = whoever;
export const readRefusals = { ...whoever, 404: referTo('NotFound') };
export const writeRefusals = { ...readRefusals, 413: referTo('TooLarge'), 415: referTo('WrongType') };
