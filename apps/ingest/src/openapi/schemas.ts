import { kitSchemas } from '@tidemark/libs-service-kit/openapi';

const text = (description: string) => ({ type: 'string', description });
const count = (description: string) => ({ type: 'integer', minimum: 0, description });

function object(properties: Record<string, unknown>, required = Object.keys(properties)) {
  return { type: 'object', required, properties };
}

/** One outcome of a record: `name` is there and true, or the error is. */
const outcome = (name: string, more: Record<string, unknown> = {}) => ({
  ...object({ [name]: { const: true }, ...more }, [name]),
  additionalProperties: false,
});

const index = { index: { type: 'integer', minimum: 1, description: 'Its place in the body, from 1.' } };
const op = {
  op: text('The id of the op that it becomes; left out for a record without id, or where ids are forgotten.'),
};
const told = (schema: ReturnType<typeof outcome>) => ({
  ...schema,
  required: ['index', ...schema.required],
  properties: { ...index, ...schema.properties },
});

export const schemas = {
  Event: {
    type: 'object',
    description:
      'A record: any JSON object that fits its table. Its id is a text, a number or a boolean; null is none.',
    additionalProperties: true,
  },
  Events: { type: 'array', items: { $ref: '#/components/schemas/Event' } },
  Body: { oneOf: [{ $ref: '#/components/schemas/Event' }, { $ref: '#/components/schemas/Events' }] },
  Taken: {
    oneOf: [outcome('ok'), outcome('duplicate'), outcome('valid'), { $ref: '#/components/schemas/Batch' }],
    description: 'Of a single object its own outcome, of anything else a Batch. `valid`: of a dry run.',
  },
  Batch: object({
    total: count('Records of the body.'),
    succeeded: count('Queued now; in a dry run: valid.'),
    failed: count('Refused for what they are.'),
    duplicates: count('Their id was known.'),
    results: {
      type: 'array',
      maxItems: 10_000,
      description: 'In the order of the body, the first 10000.',
      items: { $ref: '#/components/schemas/Result' },
    },
  }),
  Result: {
    oneOf: [
      told(outcome('ok', op)),
      told(outcome('duplicate', op)),
      told(outcome('valid')),
      { ...object({ ...index, error: text('Why it was refused.') }), additionalProperties: false },
    ],
  },
  Tables: object({ tables: { type: 'array', items: { $ref: '#/components/schemas/Table' } } }),
  Table: object({
    name: { type: 'string' },
    id_field: text('A member, or a JSON pointer to one.'),
    require_id: { type: 'boolean' },
    retention_secs: { type: ['number', 'null'], description: 'How long an id is remembered; null: for ever.' },
    ordered: { type: 'boolean' },
    schema_hash: { type: ['string', 'null'], description: 'Equal for equal schemas; null: any object is a record.' },
  }),
  ...kitSchemas,
};

export type SchemaName = keyof typeof schemas;
