import 'reflect-metadata';
import { createHmac } from 'node:crypto';
import { eventReducer } from '@tidemark/libs-fold';
import { ManualTime } from '@tidemark/libs-kernel/testing';
import {
  Metrics,
  createHttp,
  createLog,
  guardOf,
  openJwt,
  readJwtKey,
  routesOf,
  systemClock,
} from '@tidemark/libs-service-kit';
import { foldAccess } from './access.ts';
import { AppModule, type FoldServices } from './app.module.ts';
import { foldWorker } from './fold-worker.ts';
import { STREAM, startFold } from './spec-fold.ts';

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

// kills: wait.ts: if (ms > 0 && !(await stillAllowed(request))) => if (false)
test('SEC-1: a reader whose right ends while it waits is not answered with what comes later', async () => {
  const clock = new ManualTime();
  const secret = 'a secret of more than thirty-two bytes';
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = { exp: Math.floor(clock.now() / 1000) + 60, tidemark: [{ actions: ['read'], streams: [STREAM] }] };
  const signed = `${encode({ alg: 'HS256' })}.${encode({ sub: 'reader', ...claims })}`;
  const signature = createHmac('sha256', secret).update(signed).digest('base64url');
  const parts = { clock, log: createLog('fold-worker', 'silent'), metrics: new Metrics('fold-worker') };
  const authenticator = await openJwt({ ...parts, keys: readJwtKey(secret) });
  const fold = await startFold([eventReducer], { guard: guardOf({ ...parts, authenticator, access: foldAccess }) });
  const { worker } = fold;
  const waitFor = worker.waitFor.bind(worker);
  const began = new Promise<void>((resolve) => {
    worker.waitFor = (...wait) => {
      resolve();
      return waitFor(...wait);
    };
  });
  const headers = { authorization: `Bearer ${signed}.${signature}` };
  const reading = fetch(`${fold.url}/v1/streams/${STREAM}/documents/events/later?min_seq=1&wait=55`, { headers });
  await began;
  clock.advance(120_000);
  await fold.append('later');
  await worker.tick();
  expect((await reading).status).toBe(403);
  await fold.close();
});
