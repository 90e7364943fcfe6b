import { securitySchemes } from '@tidemark/libs-service-kit/openapi';
import { headers, responses } from './answers.ts';
import { parameters, paths } from './paths.ts';
import { schemas } from './schemas.ts';

/**
 * What ingest speaks, as OpenAPI 3.1. Served at /v1/openapi.json and committed as docs/protocol/ingest.openapi.json; a test compares the
 * two, the routes of the running app, and its answers with it.
 */
export const openApiDocument = {
  openapi: '3.1.1',
  info: {
    title: 'Tidemark ingest',
    version: '0.1.0',
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    description:
      'Events over HTTP, deduplicated by id and queued once. HEAD is GET without the body. An unknown path is a 404, a known path with ' +
      'another method a 405 with `Allow`; both say `Tidemark-Outcome: not-done`. Every answer varies with `X-Tenant-ID`.',
  },
  servers: [{ url: 'http://127.0.0.1:8788', description: 'INGEST_ADDR' }],
  tags: [
    { name: 'events', description: 'What producers use.' },
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
