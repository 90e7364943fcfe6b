import type { Access, Action } from '@tidemark/libs-service-kit';
import { parseStreamName } from '@tidemark/libs-wire';

/** Of one stream: which action each route needs. What is folded from a stream may be read by who may read the stream. */
const OF_A_STREAM: Readonly<Record<string, Action>> = {
  'GET /v1/streams/:stream/watermark': 'read',
  'GET /v1/streams/:stream/documents/:kind': 'read',
  'GET /v1/streams/:stream/documents/:kind/:id': 'read',
  'GET /v1/streams/:stream/parked': 'admin',
  'POST /v1/streams/:stream/parked/:seq/retry': 'admin',
  'DELETE /v1/streams/:stream/parked/:seq': 'admin',
  'POST /v1/streams/:stream/rebuild': 'admin',
};

/** Of the whole worker. */
const OF_ALL = new Set(['GET /v1/fold', 'GET /v1/fold/streams', 'GET /v1/fold/holes', 'POST /v1/fold/rebuild']);

export const foldAccess: Access = ({ method, route, params }) => {
  const action = OF_A_STREAM[`${method} ${route}`];
  if (action !== undefined) {
    const stream = params.stream ?? '';
    return { action, tenant: parseStreamName(stream)?.tenant ?? null, stream };
  }
  return OF_ALL.has(`${method} ${route}`) ? { action: 'admin', tenant: null, stream: null } : undefined;
};
