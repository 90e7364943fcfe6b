import type { Access } from '@tidemark/libs-service-kit';
import { parseStreamName } from '@tidemark/libs-wire';

const ROUTES = new Set([
  'GET /v1/streams/:stream/watermark',
  'GET /v1/streams/:stream/documents/:kind',
  'GET /v1/streams/:stream/documents/:kind/:id',
]);

/** What is folded from a stream may be read by who may read the stream. */
export const foldAccess: Access = ({ method, route, params }) => {
  if (!ROUTES.has(`${method} ${route}`)) return undefined;
  const stream = params.stream ?? '';
  return { action: 'read', tenant: parseStreamName(stream)?.tenant ?? null, stream };
};
