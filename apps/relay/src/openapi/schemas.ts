import { kitSchemas } from '@tidemark/libs-service-kit/openapi';

/** Signed 64 bits. Readers whose numbers are doubles must read these without one: real sites exceed 2^53. */
const int64 = (description: string) => ({ type: 'integer', format: 'int64', description });
const text = (description: string) => ({ type: 'string', description });

function object(properties: Record<string, unknown>, required = Object.keys(properties)) {
  return { type: 'object', required, properties };
}

const opFields = {
  envelope_version: { type: 'integer', minimum: 0, maximum: 65535, description: 'Never interpreted.' },
  op_id: text('The identity of the op in its stream. May be empty.'),
  lamport: int64("The author's logical time."),
  site: int64('Who wrote it; 63 random bits of real replicas.'),
  domain: { type: 'string', default: 'task', description: 'Left out of answers when it is the default.' },
  target_kind: { type: 'string' },
  target_id: { type: 'string' },
  field: { type: 'string' },
  op_type: { type: 'string' },
  value: {
    type: ['string', 'null'],
    default: null,
    description: 'Always there in answers; null and "" are two values.',
  },
  author: { type: 'string' },
  wall_clock: { type: 'string' },
};
const optional = ['domain', 'value'];
const required = Object.keys(opFields).filter((name) => !optional.includes(name));

const wholeSeconds = (description: string) => ({ type: 'integer', format: 'int64', minimum: 0, description });

const deadLetter = {
  id: int64('Its place among the dead letters of the tenant.'),
  seq: int64('Its place in the queue.'),
  table: { type: 'string' },
  queue: { type: 'string' },
  idempotency_key: { type: ['string', 'null'] },
  reason: text('Why it could not become an op.'),
  parked_at: { type: 'string', format: 'date-time' },
  bytes: { type: 'integer', minimum: 0 },
};

export const schemas = {
  Op: {
    ...object(opFields, required),
    additionalProperties: true,
    description: 'Opaque to the relay. Other members come back as they were sent, to the digit.',
  },
  Push: object({ ops: { type: 'array', maxItems: 1000, items: { $ref: '#/components/schemas/Op' } } }),
  Pushed: object({
    appended: {
      type: 'integer',
      minimum: 0,
      description: 'Ops of the push, those the stream held before counted too.',
    },
  }),
  Page: object({
    ops: { type: 'array', items: { $ref: '#/components/schemas/Op' } },
    next: int64(
      'The cursor to go on from. Equal to `since` when nothing lies beyond it, which alone is the end of the stream.',
    ),
  }),
  Claim: object({ prefix: text('Any text.'), replica_uuid: text('Any text.') }),
  Registration: {
    oneOf: [
      object({ outcome: { const: 'registered' } }),
      object({ outcome: { const: 'reassigned' }, new_prefix: text("The replica's prefix from now on.") }),
    ],
  },
  Hello: object({
    machine_id: { type: 'string', pattern: '^[\\x21-\\x7e]{1,64}$' },
    name: text('1 to 64 code points, not blank, without control, invisible or direction-changing characters.'),
    interval_secs: { type: 'integer', minimum: 1, maximum: 3600 },
  }),
  Machines: object({
    machines: { type: 'array', maxItems: 100, items: { $ref: '#/components/schemas/Machine' } },
    truncated: { type: 'boolean', description: 'There are more.' },
  }),
  Machine: object({
    machine_id: { type: 'string' },
    name: { type: 'string' },
    last_seen: wholeSeconds("Seconds since 1970 by the relay's clock."),
    age_secs: wholeSeconds('How long ago that is.'),
    interval_secs: wholeSeconds('How often the machine means to come.'),
  }),
  StreamHead: object({ stream: { type: 'string' }, head: int64('The highest seq ever given.') }),
  Streams: object({
    streams: { type: 'array', items: { $ref: '#/components/schemas/StreamHead' } },
    next: { type: ['string', 'null'], description: '`after` of the following page; null on the last one.' },
  }),
  StreamState: object({
    stream: { type: 'string' },
    head: int64('The highest seq ever given; 0 for an unknown stream.'),
    burned: int64('Seqs up to the head that hold no op and never will.'),
  }),
  Erased: object({
    stream: { type: 'string' },
    erased: int64('Ops that were removed.'),
    head: int64('The head, which stays: later ops go after it.'),
  }),
  DeadLetter: object(deadLetter),
  DeadLetterBody: object(
    {
      ...deadLetter,
      body: text('What was queued, where it is UTF-8.'),
      body_base64: text('What was queued, where it is not.'),
    },
    Object.keys(deadLetter),
  ),
  DeadLetters: object({
    dead_letters: { type: 'array', items: { $ref: '#/components/schemas/DeadLetter' } },
    next: { type: ['integer', 'null'], description: '`after` of the following page; null on the last one.' },
  }),
  Replayed: object({
    stream: { type: 'string' },
    op: text('The op id of the event.'),
    seq: int64('Its place in the stream.'),
    stored: { type: 'boolean', description: 'False: the stream held it already.' },
  }),
  Pending: object({ pending: int64('Events of the queues that are not ops of the log yet.') }),
  ...kitSchemas,
  AboveHead: object({ error: { type: 'string' }, head: int64('The highest seq that the stream has given.') }),
};

export type SchemaName = keyof typeof schemas;
