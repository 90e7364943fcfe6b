import type { Access, Action, Need } from '@tidemark/libs-service-kit';
import { parseStreamName } from '@tidemark/libs-wire';

/** Of one stream: which action each route needs. */
const OF_A_STREAM: Readonly<Record<string, Action>> = {
  'GET /streams/:stream/ops': 'read',
  'POST /streams/:stream/ops': 'write',
  'POST /streams/:stream/register': 'write',
  'GET /streams/:stream/machines': 'read',
  'POST /streams/:stream/machines': 'write',
  'GET /v1/streams/:stream': 'read',
  'DELETE /v1/streams/:stream': 'admin',
};

/** Of one tenant. */
const OF_A_TENANT = new Set([
  'GET /v1/dead-letters/:tenant',
  'GET /v1/dead-letters/:tenant/:id',
  'POST /v1/dead-letters/:tenant/:id/replay',
  'DELETE /v1/dead-letters/:tenant/:id',
]);

/** Of the whole relay. */
const OF_ALL = new Set(['GET /v1/streams', 'GET /v1/intake']);

/** What each route of the relay needs. A stream that a table's events go to belongs to the table's tenant, any other to none. */
export const relayAccess: Access = ({ method, route, params }): Need | undefined => {
  const action = OF_A_STREAM[`${method} ${route}`];
  if (action !== undefined) {
    const stream = params.stream ?? '';
    return { action, tenant: parseStreamName(stream)?.tenant ?? null, stream };
  }
  if (OF_A_TENANT.has(`${method} ${route}`)) return { action: 'admin', tenant: params.tenant ?? '', stream: null };
  return OF_ALL.has(`${method} ${route}`) ? { action: 'admin', tenant: null, stream: null } : undefined;
};
