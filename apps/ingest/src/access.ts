import { readTenant } from '@tidemark/libs-ingest';
import { type Access, type Need, SOME_STREAM, once } from '@tidemark/libs-service-kit';
import { streamName } from '@tidemark/libs-wire';

/**
 * To ingest is to write to the stream of a tenant's table. A tenant that is no name of one needs the right on all of them; the
 * request is refused for it later on. The list of tables is for whoever may write to some of them; it shows those alone.
 */
export const ingestAccess: Access = ({ method, route, query, headers }) => {
  const lists = method === 'GET' && route === '/v1/tables';
  if (!lists && (method !== 'POST' || route !== '/v1/ingest')) return undefined;
  const tenant = readTenant(headers['x-tenant-id']);
  if (typeof tenant !== 'string') return { action: 'write', tenant: null, stream: null };
  return lists ? { action: 'write', tenant, stream: SOME_STREAM } : toWrite(tenant, once(query, 'table') ?? '');
};

/** What it takes to reach a table. */
export const toWrite = (tenant: string, table: string): Need => ({
  action: 'write',
  tenant,
  stream: streamName(tenant, table),
});
