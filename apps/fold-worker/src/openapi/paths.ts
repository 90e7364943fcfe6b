import { answer, conflict, notFound, readRefusals, refusals } from './answers.ts';

const int64 = { type: 'integer', format: 'int64' };
const inPath = (name: string, description: string, schema: object = { type: 'string', minLength: 1 }) => ({
  name,
  in: 'path',
  required: true,
  description,
  schema,
});
const query = (name: string, description: string, schema: object) => ({ name, in: 'query', description, schema });

export const parameters = {
  stream: inPath('stream', 'Percent-encoded into one segment of the path.'),
  kind: inPath('kind', 'Of documents; for events the name of their table.'),
  id: inPath('id', 'Of a document.'),
  seq: inPath('seq', 'Of a parked op.', { ...int64, minimum: 1 }),
  minSeq: query('min_seq', 'Wait until the mark is at least this seq.', { ...int64, minimum: 0 }),
  minOp: query('min_op', 'Wait until the op of this id is folded. Not together with min_seq.', {
    type: 'string',
    minLength: 1,
  }),
  wait: query('wait', 'Seconds to wait at most.', { type: 'integer', minimum: 0, maximum: 55, default: 0 }),
  after: query('after', 'Only ids above this one, in UTF-8 order.', { type: 'string' }),
  afterSeq: query('after', 'Only seqs above this one.', { ...int64, default: 0 }),
  limit: query('limit', 'At most so many; above 1000 it counts as 1000.', {
    type: 'integer',
    minimum: 1,
    default: 500,
  }),
};

const take = (...names: (keyof typeof parameters)[]) =>
  names.map((name) => ({ $ref: `#/components/parameters/${name}` }));

const reading = ['minSeq', 'minOp', 'wait'] as const;

const ofOperators = (operationId: string, summary: string) => ({ operationId, tags: ['operators'], summary });

const probe = (operationId: string, summary: string, responses: object) => ({
  get: { operationId, tags: ['probe'], summary, security: [], responses },
});

export const paths = {
  '/v1/streams/{stream}/documents/{kind}/{id}': {
    get: {
      operationId: 'readDocument',
      tags: ['views'],
      summary: 'One document.',
      parameters: take('stream', 'kind', 'id', ...reading),
      responses: { 200: answer('The document.', 'FoldedDocument'), ...readRefusals, ...notFound },
    },
  },
  '/v1/streams/{stream}/documents/{kind}': {
    get: {
      operationId: 'listDocuments',
      tags: ['views'],
      summary: 'A page of the documents of a kind.',
      parameters: take('stream', 'kind', 'after', 'limit', ...reading),
      responses: { 200: answer('In UTF-8 order of their ids.', 'Documents'), ...readRefusals },
    },
  },
  '/v1/streams/{stream}/watermark': {
    get: {
      operationId: 'readWatermark',
      tags: ['views'],
      summary: 'How far the stream is folded.',
      parameters: take('stream', ...reading),
      responses: { 200: answer('The mark; of an unknown stream 0.', 'Watermark'), ...readRefusals },
    },
  },
  '/v1/streams/{stream}/parked': {
    get: {
      ...ofOperators('listParked', 'Ops that the mark passed although they are not folded.'),
      parameters: take('stream', 'afterSeq', 'limit'),
      responses: { 200: answer('In the order of their seqs.', 'ParkedOps'), ...refusals },
    },
  },
  '/v1/streams/{stream}/parked/{seq}/retry': {
    post: {
      ...ofOperators('retryParked', 'Reads the op again and folds it, if that is possible now.'),
      parameters: take('stream', 'seq'),
      responses: { 200: answer('Whether it is folded now.', 'Retried'), ...refusals, ...notFound, ...conflict },
    },
  },
  '/v1/streams/{stream}/parked/{seq}': {
    delete: {
      ...ofOperators('dropParked', 'Gives a parked op up: it stays in the log, and is not listed any more.'),
      parameters: take('stream', 'seq'),
      responses: { 204: answer('It is not parked any more.', 'none'), ...refusals, ...notFound },
    },
  },
  '/v1/streams/{stream}/rebuild': {
    post: {
      ...ofOperators('rebuildStream', 'Folds the stream anew beside what is shown, and switches when it is complete.'),
      parameters: take('stream'),
      responses: { 202: answer('It is begun.', 'Rebuild'), ...refusals, ...notFound, ...conflict },
    },
  },
  '/v1/fold': {
    get: {
      ...ofOperators('foldStatus', 'What this worker knows of its lag.'),
      responses: { 200: answer('Of this process.', 'Status'), ...refusals },
    },
  },
  '/v1/fold/streams': {
    get: {
      ...ofOperators('listStreams', 'Every stream that has a mark, with its lag.'),
      parameters: take('after', 'limit'),
      responses: { 200: answer('In UTF-8 order of the streams.', 'Streams'), ...refusals },
    },
  },
  '/v1/fold/holes': {
    get: {
      ...ofOperators('listHoles', 'Streams whose marks have holes.'),
      parameters: take('after', 'limit'),
      responses: { 200: answer('In UTF-8 order of the streams.', 'Holes'), ...refusals },
    },
  },
  '/v1/fold/rebuild': {
    post: {
      ...ofOperators('rebuildAll', 'Rebuilds a page of the streams that have a mark: ask on until next is null.'),
      parameters: take('after', 'limit'),
      responses: { 202: answer('They are begun.', 'Rebuilds'), ...refusals },
    },
  },
  '/v1/openapi.json': probe('describeApi', 'This document.', { 200: answer('OpenAPI 3.1.', 'Document') }),
  '/livez': probe('live', 'Whether the process answers; touches no store.', { 200: answer('It does.', 'Live') }),
  '/readyz': probe('ready', 'Whether every store answers within 2 seconds.', {
    200: answer('All do.', 'Ready'),
    503: answer('One does not, or the worker is stopping.', 'NotReady', 'Tidemark-Outcome'),
  }),
  '/metrics': {
    get: {
      operationId: 'metrics',
      tags: ['probe'],
      summary: 'Prometheus text. Elsewhere where TIDEMARK_METRICS_ADDR says so.',
      responses: { 200: answer('Every metric of the process.', 'text'), ...refusals },
    },
  },
};
