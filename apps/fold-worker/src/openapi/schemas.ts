import { kitSchemas } from '@tidemark/libs-service-kit/openapi';

/** Signed 64 bits; readers whose numbers are doubles must read these without one. */
const int64 = (description: string) => ({ type: 'integer', format: 'int64', description });
const text = (description: string) => ({ type: 'string', description });
const count = (description: string) => ({ type: 'integer', minimum: 0, description });
const many = (name: string) => ({ type: 'array', items: { $ref: `#/components/schemas/${name}` } });

function object(properties: Record<string, unknown>, required = Object.keys(properties)) {
  return { type: 'object', required, properties };
}

const document = {
  stream: { type: 'string' },
  kind: { type: 'string' },
  id: { type: 'string' },
  fields: {
    type: 'object',
    additionalProperties: true,
    description: 'Values as they were written, to the digit; a set or list is an array, a counter an integer.',
  },
  versions: {
    type: 'object',
    additionalProperties: object({
      lamport: int64("The writer's logical time."),
      site: int64('Who wrote it.'),
      seq: int64('Where it is in the stream.'),
    }),
    description: 'By field: its newest write that is present.',
  },
};
const foldedThrough = int64('The mark, read before everything beside it.');
const range = {
  type: 'array',
  minItems: 2,
  maxItems: 2,
  items: { type: 'integer' },
  description: 'From, to; inclusive.',
};
const nextText = { type: ['string', 'null'], description: '`after` of the following page; null: this was the last.' };

const build = {
  oneOf: [
    { type: 'null' },
    object({ epoch: count('Its generation.'), folded_through: int64('How far it is folded.') }),
  ],
  description: 'A rebuild that is folded beside what is shown.',
};

export const schemas = {
  FoldedDocument: object({ ...document, folded_through: foldedThrough }),
  Documents: object({
    documents: { type: 'array', items: object(document) },
    next: nextText,
    folded_through: foldedThrough,
  }),
  Watermark: object({
    stream: { type: 'string' },
    epoch: count('Generation of the documents.'),
    folded_through: foldedThrough,
    ahead: { type: 'array', items: range, description: 'Ranges above the mark that are folded as well.' },
    holes: many('Hole'),
    skipped: {
      type: 'array',
      items: range,
      description: 'Passed by FOLD_ADD_ERA_GRACE_SECS without proof; watched, and folded when they come after all.',
    },
    floor: int64('The seq up to which the log was cut; 0: not at all.'),
    revisions: {
      type: 'object',
      additionalProperties: { type: 'integer' },
      description: 'By domain: the revision of the reducers that folded this.',
    },
    build,
  }),
  Hole: object({
    from: int64('First seq that is missing.'),
    to: int64('Last seq that is missing.'),
    first_seen_ms: { type: 'integer', description: 'When a worker first saw it, in Unix milliseconds.' },
  }),
  Late: object({
    error: text('What was waited for.'),
    folded_through: int64('The mark as it is now.'),
  }),
  Status: object({
    pending: count('Streams that have, or may have, unfolded ops.'),
    lag_ops: int64('Ops known of and not folded.'),
    held_ops: int64('Of these, the ones behind an op that the log does not show yet.'),
    oldest_ms: count('Since the oldest change that is not folded was heard of, in milliseconds.'),
    chores: count('Rebuilds, rows of old epochs to be removed, and the sweep.'),
    stuck: many('Stuck'),
    feed_fault: { type: ['string', 'null'], description: 'Why the feed does not answer; null while it does.' },
    revisions: { type: 'object', additionalProperties: { type: 'integer' } },
  }),
  Stuck: object({
    stream: { type: 'string' },
    kind: { enum: ['held', 'fault', 'others'] },
    message: text('Why its last turn brought nothing.'),
    attempt: count('Turns in a row that brought nothing.'),
  }),
  Streams: object({
    streams: many('StreamStatus'),
    next: nextText,
  }),
  StreamStatus: object({
    stream: { type: 'string' },
    epoch: count('Generation of the documents.'),
    folded_through: int64('Its mark.'),
    head: int64('Highest seq that was given.'),
    lag_ops: int64('Seqs up to the head that are neither folded nor proved to hold no op.'),
    oldest_hole_ms: {
      type: ['integer', 'null'],
      description: 'How long the oldest hole is missed; null: there is none.',
    },
    build,
  }),
  Holes: object({
    streams: {
      type: 'array',
      items: object({ stream: { type: 'string' }, folded_through: int64('Its mark.'), holes: many('Hole') }),
    },
    next: nextText,
  }),
  ParkedOps: object({
    parked: many('ParkedOp'),
    next: { type: ['integer', 'null'], description: '`after` of the following page; null: this was the last.' },
  }),
  ParkedOp: object({
    seq: int64('Where it is in the stream.'),
    op_id: { type: ['string', 'null'], description: 'null: the op cannot be read.' },
    reason: text('Why it is not folded.'),
    parked_at: { type: 'string', format: 'date-time' },
    attempts: count('How often it was tried.'),
  }),
  Retried: object({
    seq: int64('Where it is in the stream.'),
    folded: { type: 'boolean', description: 'false: it is parked again, for the reason beside.' },
    reason: { type: ['string', 'null'] },
  }),
  Rebuild: object({ stream: { type: 'string' }, epoch: count('The generation that is built.') }),
  Rebuilds: object({ streams: count('Streams of this page whose rebuild was begun.'), next: nextText }),
  ...kitSchemas,
};

export type SchemaName = keyof typeof schemas;
