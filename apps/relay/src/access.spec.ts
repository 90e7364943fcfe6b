import 'reflect-metadata';
import { Metrics, createHttp, createLog, routesOf, systemClock } from '@tidemark/libs-service-kit';
import { relayAccess } from './access.ts';
import { AppModule, type RelayServices } from './app.module.ts';
import { relay } from './relay.ts';

const needOf = (method: string, route: string, params: Record<string, string> = {}) =>
  relayAccess({ method, route, params, query: {}, headers: {} });

test('SEC-1: every route of the relay has a need, but for what it says of itself', async () => {
  const services = new Proxy({}, { get: () => ({}) }) as RelayServices;
  const parts = { log: createLog('relay', 'silent'), metrics: new Metrics('relay'), clock: systemClock };
  const app = await createHttp(AppModule.create(services), relay.http, {
    ...parts,
    stopping: new AbortController().signal,
  });
  await app.init();
  const routes = routesOf(app).filter(({ method, url }) => method !== 'HEAD' && url !== '/v1/openapi.json');
  expect(routes.length).toBeGreaterThan(5);
  expect(routes.filter(({ method, url }) => needOf(method, url, { stream: 's' }) === undefined)).toEqual([]);
  await app.close();
});

// kills: access.ts: 'POST /streams/:stream/ops': 'write' => 'POST /streams/:stream/ops': 'read'
test('SEC-1: to read a stream is to pull it, to write it is to push, register or announce', () => {
  const action = (method: string, route: string) => needOf(method, route, { stream: 's' })?.action;
  expect(action('GET', '/streams/:stream/ops')).toBe('read');
  expect(action('GET', '/streams/:stream/machines')).toBe('read');
  expect(action('GET', '/v1/streams/:stream')).toBe('read');
  for (const what of ['ops', 'register', 'machines']) expect(action('POST', `/streams/:stream/${what}`)).toBe('write');
  expect(action('DELETE', '/v1/streams/:stream')).toBe('admin');
  expect(action('POST', '/v1/streams/:stream')).toBeUndefined();
});

test('SEC-1: what shows all streams is for who may administer all of them', () => {
  for (const route of ['/v1/streams', '/v1/intake'])
    expect(needOf('GET', route)).toEqual({ action: 'admin', tenant: null, stream: null });
});

// kills: access.ts: tenant: parseStreamName(stream)?.tenant ?? null => tenant: null
test('SEC-1: the stream of a table belongs to its tenant, any other to none', () => {
  const need = (stream: string) => needOf('GET', '/streams/:stream/ops', { stream });
  expect(need('acme.events')).toEqual({ action: 'read', tenant: 'acme', stream: 'acme.events' });
  expect(need('a.b.c')).toEqual({ action: 'read', tenant: null, stream: 'a.b.c' });
  expect(need('plain')).toEqual({ action: 'read', tenant: null, stream: 'plain' });
});
