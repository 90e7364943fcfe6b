/** What every service of this kit speaks, as parts of an OpenAPI document: its probes, its refusals, and who may ask. */

const checks = { $ref: '#/components/schemas/Checks' };

export const kitSchemas = {
  Live: { type: 'object', required: ['status'], properties: { status: { const: 'ok' } } },
  Ready: { type: 'object', required: ['status', 'checks'], properties: { status: { const: 'ok' }, checks } },
  NotReady: {
    type: 'object',
    required: ['status'],
    properties: { status: { enum: ['not ready', 'draining'] }, checks },
  },
  Checks: {
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'By store: `ok`, or the reason why not.',
  },
  Document: { type: 'object', required: ['openapi', 'info', 'paths'], additionalProperties: true },
  Error: {
    type: 'object',
    required: ['error'],
    properties: { error: { type: 'string', description: 'The reason, for people.' } },
  },
};

export const securitySchemes = {
  bearer: { type: 'http', scheme: 'bearer', description: 'A token, where TIDEMARK_AUTH is tokens or jwt.' },
  basic: {
    type: 'http',
    scheme: 'basic',
    description: 'The same token as the password, or as the user without one.',
  },
};
