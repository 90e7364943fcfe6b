import { securitySchemes } from '@tidemark/libs-service-kit/openapi';
import { headers, responses } from './answers.ts';
import { parameters, paths } from './paths.ts';
import { schemas } from './schemas.ts';

/**
 * What the relay speaks, as OpenAPI 3.1. Served at /v1/openapi.json and committed as docs/protocol/relay.openapi.json; a test compares the
 * two, the routes of the running app, and its answers with it.
 */
export const openApiDocument = {
  openapi: '3.1.1',
  info: {
    title: 'Tidemark relay',
    version: '0.1.0',
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    description:
      'Append-only logs of ops, each op at its own place in an order without gaps. ' +
      'HEAD is GET without the body. An unknown path is a 404, a known path with another method a 405 with `Allow`; ' +
      'both say `Tidemark-Outcome: not-done`, without a body outside of /v1. ' +
      'Integers of the format int64 must be read without loss: a reader of doubles corrupts nearly every op.',
  },
  servers: [{ url: 'http://127.0.0.1:8787', description: 'RELAY_ADDR' }],
  tags: [
    { name: 'wire', description: 'Push, pull, prefixes and presence.' },
    { name: 'operator', description: 'What there is, and how far it has come.' },
    { name: 'probe', description: 'Health and metrics.' },
  ],
  security: [{ bearer: [] }, { basic: [] }, {}],
  paths,
  components: {
    schemas,
    parameters,
    headers,
    responses,
    securitySchemes,
  },
};
