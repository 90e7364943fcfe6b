import { readTenant } from '@tidemark/libs-ingest';
import { type Access, once } from '@tidemark/libs-service-kit';
import { streamName } from '@tidemark/libs-wire';

/**
 * To ingest is to write to the stream of a tenant's table. A tenant that is no name of one needs the right on all of them; the
 * request is refused for it later on.
 */
export const ingestAccess: Access = ({ method, route, query, headers }) => {
  if (method !== 'POST' || route !== '/v1/ingest') return undefined;
  const tenant = readTenant(headers['x-tenant-id']);
  if (typeof tenant !== 'string') return { action: 'write', tenant: null, stream: null };
  return { action: 'write', tenant, stream: streamName(tenant, once(query, 'table') ?? '') };
};
