import 'reflect-metadata';
import { Metrics, createHttp, createLog, routesOf, systemClock } from '@tidemark/libs-service-kit';
import { foldAccess } from './access.ts';
import { AppModule, type FoldServices } from './app.module.ts';
import { foldWorker } from './fold-worker.ts';

const needOf = (method: string, route: string, stream: string) =>
  foldAccess({ method, route, params: { stream }, query: {}, headers: {} });

// kills: access.ts: tenant: parseStreamName(stream)?.tenant ?? null => tenant: null
test('SEC-1: every route of the fold worker needs the right to read its stream', async () => {
  const services = new Proxy({}, { get: () => ({}) }) as FoldServices;
  const parts = { log: createLog('fold-worker', 'silent'), metrics: new Metrics('fold-worker'), clock: systemClock };
  const app = await createHttp(AppModule.create(services), foldWorker.http, {
    ...parts,
    stopping: new AbortController().signal,
  });
  await app.init();
  const routes = routesOf(app).filter(({ method }) => method !== 'HEAD');
  expect(routes).toHaveLength(3);
  for (const { method, url } of routes) {
    expect(needOf(method, url, 'acme.e')).toEqual({ action: 'read', tenant: 'acme', stream: 'acme.e' });
    expect(needOf(method, url, 'plain')).toEqual({ action: 'read', tenant: null, stream: 'plain' });
    expect(needOf('POST', url, 'plain')).toBeUndefined();
  }
  await app.close();
});
