import { answer, jsonContent, probeRefusals, readRefusals, writeRefusals } from './answers.ts';

export const parameters = {
  tenant: {
    name: 'X-Tenant-ID',
    in: 'header',
    description: 'Whose table it is; absent or empty: tenant `0`.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]*$' },
  },
  encoding: {
    name: 'Content-Encoding',
    in: 'header',
    description: 'How the body is compressed.',
    schema: { enum: ['identity', 'gzip', 'x-gzip', 'br', 'zstd'] },
  },
  table: {
    name: 'table',
    in: 'query',
    required: true,
    description: 'The table that the records belong to.',
    schema: { type: 'string', minLength: 1 },
  },
  validate: {
    name: 'validate',
    in: 'query',
    description: '`1`: the records are judged, and nothing is taken.',
    schema: { enum: ['0', '1'], default: '0' },
  },
};

const take = (...names: (keyof typeof parameters)[]) =>
  names.map((name) => ({ $ref: `#/components/parameters/${name}` }));

const lines = { schema: { type: 'string', description: 'One Event per line; lines end at LF.' } };
const LINES = ['application/x-ndjson', 'application/ndjson', 'application/jsonl', 'application/jsonlines'];

const ofIngest = {
  post: {
    operationId: 'ingest',
    tags: ['events'],
    summary:
      'Takes events in, each once: what was answered as taken is in the queue and on disk. May be repeated as it was.',
    parameters: take('tenant', 'table', 'validate', 'encoding'),
    requestBody: {
      required: true,
      description: 'At most 16 MiB, after decompression.',
      content: { ...jsonContent('Body'), ...Object.fromEntries(LINES.map((type) => [type, lines])) },
    },
    responses: {
      200: answer('Also when every record of a batch failed: look at `failed`.', 'Taken', 'Tidemark-Op'),
      ...writeRefusals,
    },
  },
};

const ofTables = {
  get: {
    operationId: 'listTables',
    tags: ['events'],
    summary: 'The tables of the tenant that the caller may insert into.',
    parameters: take('tenant'),
    responses: { 200: answer('In order of their names.', 'Tables'), ...readRefusals },
  },
};

const probe = (operationId: string, summary: string, responses: object) => ({
  get: { operationId, tags: ['probe'], summary, security: [], responses },
});

export const paths = {
  '/v1/ingest': ofIngest,
  '/v1/tables': ofTables,
  '/v1/openapi.json': probe('describeApi', 'This document.', { 200: answer('OpenAPI 3.1.', 'Document') }),
  '/livez': probe('live', 'Whether the process answers; touches no store.', { 200: answer('It does.', 'Live') }),
  '/readyz': probe('ready', 'Whether every store answers within 2 seconds.', {
    200: answer('All do.', 'Ready'),
    503: answer('One does not, or ingest is stopping.', 'NotReady', 'Tidemark-Outcome'),
  }),
  '/metrics': {
    get: {
      operationId: 'metrics',
      tags: ['probe'],
      summary: 'Prometheus text. Elsewhere where TIDEMARK_METRICS_ADDR says so.',
      responses: { 200: answer('Every metric of the process.', 'text'), ...probeRefusals },
    },
  },
};
