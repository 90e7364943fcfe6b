import 'reflect-metadata';
import { Metrics, createHttp, createLog, routesOf, systemClock } from '@tidemark/libs-service-kit';
import { SOME_STREAM } from '@tidemark/libs-service-kit';
import { ingestAccess } from './access.ts';
import { AppModule, type IngestServices } from './app.module.ts';
import { ingest } from './ingest.ts';

const needOf = (tenant: string | undefined, table: string | undefined, method = 'POST', route = '/v1/ingest') =>
  ingestAccess({
    method,
    route,
    params: {},
    query: table === undefined ? {} : { table },
    headers: tenant === undefined ? {} : { 'x-tenant-id': tenant },
  });

test('SEC-1: every route of ingest has a need', async () => {
  const services = new Proxy({}, { get: () => ({}) }) as IngestServices;
  const parts = { log: createLog('ingest', 'silent'), metrics: new Metrics('ingest'), clock: systemClock };
  const app = await createHttp(AppModule.create(services), ingest.http, {
    ...parts,
    stopping: new AbortController().signal,
  });
  await app.init();
  const routes = routesOf(app).filter(({ method }) => method !== 'HEAD');
  expect(routes.map(({ method, url }) => `${method} ${url}`).sort()).toEqual([
    'GET /v1/openapi.json',
    'GET /v1/tables',
    'POST /v1/ingest',
  ]);
  // The document is for everybody.
  expect(routes.filter(({ method, url }) => needOf('a', 't', method, url) === undefined)).toEqual([
    { method: 'GET', url: '/v1/openapi.json' },
  ]);
  expect(needOf('a', 't', 'GET')).toBeUndefined();
  await app.close();
});

// kills: access.ts: return lists ? => return true ?
test("SEC-1: to ingest is to write the stream of the tenant's table", () => {
  expect(needOf('acme', 'events')).toEqual({ action: 'write', tenant: 'acme', stream: 'acme.events' });
  expect(needOf(undefined, 'events')).toEqual({ action: 'write', tenant: '0', stream: '0.events' });
  expect(needOf('', 'my table')).toEqual({ action: 'write', tenant: '0', stream: '0.my%20table' });
  expect(needOf('acme', undefined)).toEqual({ action: 'write', tenant: 'acme', stream: 'acme.' });
});

test('SEC-1: a tenant that is no name of one is covered by the right on all of them alone', () => {
  for (const tenant of ['a.b', 'a, b', 'acme, ', '*'])
    expect(needOf(tenant, 'events')).toEqual({ action: 'write', tenant: null, stream: null });
});

test('SEC-1, ING-9: to see tables is to have the right to write to some of them', () => {
  const tables = (tenant?: string) => needOf(tenant, undefined, 'GET', '/v1/tables');
  expect(tables('acme')).toEqual({ action: 'write', tenant: 'acme', stream: SOME_STREAM });
  expect(tables()).toEqual({ action: 'write', tenant: '0', stream: SOME_STREAM });
  expect(tables('a.b')).toEqual({ action: 'write', tenant: null, stream: null });
  expect(needOf('acme', undefined, 'POST', '/v1/tables')).toBeUndefined();
});
