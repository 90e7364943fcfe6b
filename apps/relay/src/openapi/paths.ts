import {
  answer,
  jsonContent,
  ownNamedRefusals,
  ownRefusals,
  ownWorkRefusals,
  referTo,
  wireReadRefusals,
  wireWriteRefusals,
} from './answers.ts';
import type { SchemaName } from './schemas.ts';

const int64 = { type: 'integer', format: 'int64' };

const query = (name: string, description: string, schema: object) => ({ name, in: 'query', description, schema });

export const parameters = {
  stream: {
    name: 'stream',
    in: 'path',
    required: true,
    description: 'Any text, percent-encoded into one segment of the path: `a%2Fb` is the stream `a/b`.',
    schema: { type: 'string', minLength: 1, maxLength: 4096 },
  },
  since: query('since', 'The cursor: `next` of the page before.', { ...int64, default: 0 }),
  limit: query('limit', 'At most so many; above 10000 it counts as 10000.', {
    type: 'integer',
    minimum: 0,
    default: 500,
  }),
  listLimit: query('limit', 'At most so many; above 10000 it counts as 10000.', {
    type: 'integer',
    minimum: 1,
    default: 500,
  }),
  wait: query('wait', 'Seconds for which the answer may be held back until there is something to tell.', {
    type: 'integer',
    minimum: 0,
    maximum: 55,
    default: 0,
  }),
  tenant: {
    name: 'tenant',
    in: 'path',
    required: true,
    description: 'Whose queue.',
    schema: { type: 'string', minLength: 1 },
  },
  letter: {
    name: 'id',
    in: 'path',
    required: true,
    description: 'The number of a dead letter.',
    schema: { ...int64, minimum: 1 },
  },
  afterLetter: query('after', 'Only numbers above this one.', { ...int64, default: 0 }),
  after: query('after', 'Only ids above this one.', { type: 'string' }),
  lastEventId: {
    name: 'Last-Event-ID',
    in: 'header',
    description: 'Of a stream of events: the id of the last one, which stands before `since`.',
    schema: int64,
  },
};

const take = (...names: (keyof typeof parameters)[]) =>
  names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
const bodyOf = (name: SchemaName) => ({ required: true, content: jsonContent(name) });

const eventStream = {
  'text/event-stream': {
    schema: {
      type: 'string',
      description: 'Each event is a Page as its data, with `next` as its id. Comments are heartbeats.',
    },
  },
};

function pulled() {
  const page = answer('The ops after the cursor.', 'Page');
  return { ...page, content: { ...page.content, ...eventStream } };
}

const ofOps = {
  parameters: take('stream'),
  get: {
    operationId: 'pull',
    tags: ['wire'],
    summary: 'Ops after a cursor, at once, by long poll, or as server-sent events (`Accept: text/event-stream`).',
    parameters: take('since', 'limit', 'wait', 'lastEventId'),
    responses: { 200: pulled(), 409: referTo('AboveHead'), ...wireReadRefusals },
  },
  post: {
    operationId: 'push',
    tags: ['wire'],
    summary: 'Appends ops in their order. A repeat is answered the old places; push again what was not answered.',
    requestBody: bodyOf('Push'),
    responses: { 200: answer('Every op is on disk.', 'Pushed', 'Tidemark-Seq'), ...wireWriteRefusals },
  },
};

const ofRegister = {
  parameters: take('stream'),
  post: {
    operationId: 'register',
    tags: ['wire'],
    summary: "Claims a replica's prefix. The same question has the same answer for ever.",
    requestBody: bodyOf('Claim'),
    responses: { 200: answer('The prefix that is the replica\u2019s.', 'Registration'), ...wireWriteRefusals },
  },
};

const ofMachines = {
  parameters: take('stream'),
  get: {
    operationId: 'listMachines',
    tags: ['wire'],
    summary: 'Machines that said hello within 30 days, the latest first.',
    responses: { 200: answer('At most 100.', 'Machines'), ...wireReadRefusals },
  },
  post: {
    operationId: 'announce',
    tags: ['wire'],
    summary: 'A machine says that it is there.',
    requestBody: bodyOf('Hello'),
    responses: { 204: answer('Noted.', 'none'), ...wireWriteRefusals },
  },
};

const ofStreams = {
  get: {
    operationId: 'listStreams',
    tags: ['operator'],
    summary: 'Streams that hold an op, in the UTF-8 order of their ids.',
    parameters: take('after', 'listLimit'),
    responses: { 200: answer('One page.', 'Streams'), ...ownRefusals },
  },
};

const ofStream = {
  parameters: take('stream'),
  get: {
    operationId: 'describeStream',
    tags: ['operator'],
    summary: 'What is known of one stream.',
    responses: { 200: answer('Also of a stream that nobody wrote.', 'StreamState'), ...ownRefusals },
  },
  delete: {
    operationId: 'eraseStream',
    tags: ['operator'],
    summary: 'Removes every op of the stream, on record. Its head stays.',
    responses: { 200: answer('Nothing of it can be read any more.', 'Erased'), ...ownRefusals },
  },
};

const ofDeadLetters = {
  parameters: take('tenant'),
  get: {
    operationId: 'listDeadLetters',
    tags: ['operator'],
    summary: 'Events that could not become ops, oldest first, without their bodies.',
    parameters: take('afterLetter', 'listLimit'),
    responses: { 200: answer('One page.', 'DeadLetters'), ...ownNamedRefusals },
  },
};

const ofDeadLetter = {
  parameters: take('tenant', 'letter'),
  get: {
    operationId: 'showDeadLetter',
    tags: ['operator'],
    summary: 'One of them, with its body.',
    responses: { 200: answer('As it was queued.', 'DeadLetterBody'), ...ownNamedRefusals },
  },
  delete: {
    operationId: 'dropDeadLetter',
    tags: ['operator'],
    summary: 'Gives the event up, on record.',
    responses: { 204: answer('It is gone.', 'none'), ...ownNamedRefusals },
  },
};

const ofReplay = {
  parameters: take('tenant', 'letter'),
  post: {
    operationId: 'replayDeadLetter',
    tags: ['operator'],
    summary: 'Appends the event to its stream under the op id that it always had, then removes the letter.',
    responses: { 200: answer('It is an op now.', 'Replayed'), ...ownWorkRefusals },
  },
};

const ofIntake = {
  get: {
    operationId: 'pendingEvents',
    tags: ['operator'],
    summary: 'Events that have not become ops, where the intake is on; with `wait`, as soon as there are none.',
    parameters: take('wait'),
    responses: { 200: answer('Over all tenants.', 'Pending'), ...ownRefusals },
  },
};

const probe = (operationId: string, summary: string, responses: object) => ({
  get: { operationId, tags: ['probe'], summary, security: [], responses },
});

export const paths = {
  '/streams/{stream}/ops': ofOps,
  '/streams/{stream}/register': ofRegister,
  '/streams/{stream}/machines': ofMachines,
  '/v1/streams': ofStreams,
  '/v1/streams/{stream}': ofStream,
  '/v1/intake': ofIntake,
  '/v1/dead-letters/{tenant}': ofDeadLetters,
  '/v1/dead-letters/{tenant}/{id}': ofDeadLetter,
  '/v1/dead-letters/{tenant}/{id}/replay': ofReplay,
  '/v1/openapi.json': probe('describeApi', 'This document.', { 200: answer('OpenAPI 3.1.', 'Document') }),
  '/livez': probe('live', 'Whether the process answers; touches no store.', { 200: answer('It does.', 'Live') }),
  '/readyz': probe('ready', 'Whether every store answers within 2 seconds.', {
    200: answer('All do.', 'Ready'),
    503: answer('One does not, or the relay is stopping.', 'NotReady', 'Tidemark-Outcome'),
  }),
  '/metrics': {
    get: {
      operationId: 'metrics',
      tags: ['probe'],
      summary: 'Prometheus text. Elsewhere where TIDEMARK_METRICS_ADDR says so.',
      responses: { 200: answer('Every metric of the process.', 'text'), ...ownRefusals },
    },
  },
};
