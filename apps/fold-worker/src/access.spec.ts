import 'reflect-metadata';
import { Metrics, createHttp, createLog, routesOf, systemClock } from '@tidemark/libs-service-kit';
import { foldAccess } from './access.ts';
import { AppModule, type FoldServices } from './app.module.ts';
import { foldWorker } from './fold-worker.ts';

const needOf = (method: string, route: string, stream: string) =>
  foldAccess({ method, route, params: { stream }, query: {}, headers: {} });

const ADMIN = /\/(parked|rebuild|fold)(\/|$)/;

// kills: access.ts: tenant: parseStreamName(stream)?.tenant ?? null => tenant: null
// kills: access.ts: 'DELETE /v1/streams/:stream/parked/:seq': 'admin' => 'DELETE /v1/streams/:stream/parked/:seq': 'read'
test('SEC-1: every route of the fold worker needs the right to read its stream, or to administer it', async () => {
  const services = new Proxy({}, { get: () => ({}) }) as FoldServices;
  const parts = { log: createLog('fold-worker', 'silent'), metrics: new Metrics('fold-worker'), clock: systemClock };
  const app = await createHttp(AppModule.create(services), foldWorker.http, {
    ...parts,
    stopping: new AbortController().signal,
  });
  await app.init();
  const routes = routesOf(app).filter(({ method, url }) => method !== 'HEAD' && url !== '/v1/openapi.json');
  expect(routes).toHaveLength(11);
  for (const { method, url } of routes) {
    const action = ADMIN.test(url) ? 'admin' : 'read';
    const isOfAll = url.startsWith('/v1/fold');
    const of = (stream: string, tenant: string | null) =>
      isOfAll ? { action, tenant: null, stream: null } : { action, tenant, stream };
    expect(needOf(method, url, 'acme.e')).toEqual(of('acme.e', 'acme'));
    expect(needOf(method, url, 'plain')).toEqual(of('plain', null));
    expect(needOf('PUT', url, 'plain')).toBeUndefined();
  }
  await app.close();
});
