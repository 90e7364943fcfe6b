import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Fault } from '@tidemark/libs-kernel';
import { MemoryOpStore, anOp } from '@tidemark/libs-op-store-contract/testing';
import { routesOf } from '@tidemark/libs-service-kit';
import { encodeEvent, encodePush } from '@tidemark/libs-wire';
import { openApiDocument } from './openapi/document.ts';
import { startRelay } from './spec-relay.ts';

interface Json {
  readonly [name: string]: Json;
}
const document = JSON.parse(JSON.stringify(openApiDocument)) as Json;
const METHODS = ['get', 'post', 'delete', 'put', 'patch'];

const nodes = (node: unknown): Json[] =>
  typeof node === 'object' && node !== null ? [node as Json, ...Object.values(node).flatMap(nodes)] : [];

const refOf = (node: Json) => node.$ref as unknown as string | undefined;

const at = (pointer: string): Json | undefined =>
  pointer
    .slice(2)
    .split('/')
    .reduce<Json | undefined>((node, name) => node?.[name.replaceAll('~1', '/').replaceAll('~0', '~')], document);

function resolved(node: Json | undefined): Json | undefined {
  const pointer = node === undefined ? undefined : refOf(node);
  return pointer === undefined ? node : at(pointer);
}

const operations = Object.entries(document.paths as Json).flatMap(([template, item]) =>
  METHODS.filter((method) => method in item).map((method) => ({
    template,
    item,
    method,
    operation: item[method] as Json,
  })),
);

let opStore: MemoryOpStore;
let relay: Awaited<ReturnType<typeof startRelay>>;

beforeAll(async () => {
  opStore = new MemoryOpStore();
  relay = await startRelay(opStore);
});
afterAll(() => relay.close());

describe('the document', () => {
  test('is the one that is committed, and the one that is served', async () => {
    const file = path.resolve(import.meta.dirname, '../../../docs/protocol/relay.openapi.json');
    // When this fails: apps/relay/src/openapi/print.ts tells how to write the file.
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(document);
    expect(await (await fetch(`${relay.url}/v1/openapi.json`)).json()).toEqual(document);
  });

  test('has every route of the running relay, and no other', () => {
    const served = routesOf(relay.app).filter(({ method }) => method !== 'HEAD');
    const told = operations.map(({ template, method }) => `${method.toUpperCase()} ${template}`);
    const running = served.map(({ method, url }) => `${method} ${url.replace(/:([^/]+)/g, '{$1}')}`);
    expect(told.sort()).toEqual(running.sort());
  });

  test('points nowhere in vain, and has no part that nothing points to', () => {
    const pointers = nodes(document).flatMap((node) => refOf(node) ?? []);
    expect(pointers.filter((pointer) => at(pointer) === undefined)).toEqual([]);
    const { securitySchemes = {}, ...components } = document.components as Json;
    const parts = Object.entries(components).flatMap(([kind, named]) =>
      Object.keys(named).map((name) => `#/components/${kind}/${name}`),
    );
    expect(parts.filter((part) => !pointers.includes(part))).toEqual([]);
    const required = (document.security as unknown as Json[]).flatMap((one) => Object.keys(one));
    expect(required.sort()).toEqual(Object.keys(securitySchemes).sort());
  });

  test('names each operation once, declares the parameters of its path, and tells its tag', () => {
    const ids = operations.map(({ operation }) => operation.operationId as unknown as string);
    expect(new Set(ids).size).toBe(ids.length);
    const tags = (document.tags as unknown as { name: string }[]).map(({ name }) => name);
    for (const { template, item, operation } of operations) {
      const declared = [item.parameters, operation.parameters]
        .flatMap((list) => (list ?? []) as unknown as Json[])
        .map(resolved);
      const inPath = declared
        .filter((one) => (one?.in as unknown) === 'path')
        .map((one) => one?.name as unknown as string);
      expect([template, ...inPath]).toEqual([
        template,
        ...[...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
      ]);
      expect(tags).toContain((operation.tags as unknown as string[])[0]);
    }
  });

  test('has a description for every answer, and a schema by name for every JSON body', () => {
    for (const { operation } of operations) {
      const bodies = [...Object.values(operation.responses as Json), operation.requestBody].map(resolved);
      for (const body of bodies.filter((one) => one !== undefined)) {
        const json = body.content?.['application/json'];
        if (json !== undefined) expect(json.schema?.$ref).toMatch(/^#\/components\/schemas\//);
      }
      for (const answer of Object.values(operation.responses as Json))
        expect(resolved(answer)?.description).toBeTruthy();
    }
  });

  test('has schemas that are JSON Schema 2020-12', () => {
    const ajv = new Ajv2020({ strict: true, strictTypes: false });
    ajv.addFormat('int64', true).addFormat('date-time', true);
    for (const schema of Object.values(document.components?.schemas as Json))
      expect(ajv.validateSchema(schema)).toBe(true);
  });
});

describe('what the relay answers', () => {
  const ajv = new Ajv2020({ strict: false });
  ajv.addFormat('int64', true).addFormat('date-time', true);
  ajv.addSchema(document, 'relay');

  const seen = new Set<string>();

  /** Asks, and holds the answer to what the document says of it. */
  async function ask(method: string, url: string, init: RequestInit = {}): Promise<number> {
    const answer = await fetch(`${relay.url}${url}`, { method, ...init });
    const pathname = url.split('?')[0] as string;
    const found = operations.find(
      (one) =>
        one.method === method.toLowerCase() &&
        new RegExp(`^${one.template.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`).test(pathname),
    );
    const declared = resolved((found?.operation.responses as Json)[String(answer.status)]);
    expect([method, url, answer.status, declared !== undefined]).toEqual([method, url, answer.status, true]);
    seen.add(`${found?.operation.operationId} ${answer.status}`);
    for (const name of Object.keys(declared?.headers ?? {}))
      expect([name, answer.headers.get(name)]).not.toContain(null);
    const type = answer.headers.get('content-type')?.split(';')[0];
    expect(Object.keys(declared?.content ?? { undefined: 0 })).toContain(String(type));
    if (type === 'text/event-stream') await answer.body?.cancel();
    const body = type === 'text/event-stream' ? '' : await answer.text();
    if (type === 'application/json') {
      const schema = declared?.content?.['application/json']?.schema?.$ref as unknown as string;
      const valid = ajv.compile({ $ref: `relay${schema}` });
      valid(JSON.parse(body));
      expect([body, valid.errors]).toEqual([body, null]);
    }
    return answer.status;
  }

  const JSON_TYPE = { 'content-type': 'application/json' };
  const post = (url: string, body: string, headers: Record<string, string> = JSON_TYPE) =>
    ask('POST', url, { body, headers });
  const fail = (name: 'append' | 'read', fault: Fault) => jest.spyOn(opStore, name).mockRejectedValueOnce(fault);

  test('RLY-1: pushes, and every refusal of one', async () => {
    const push = (body: string, headers?: Record<string, string>) => post('/streams/a%2Fb/ops', body, headers);
    const body = encodePush([
      anOp({ opId: 'a', extra: '{"sig":7}' }),
      anOp({ opId: 'b', domain: 'fact', value: null }),
    ]);
    expect(await push(body)).toBe(200);
    expect(await push('{"ops":[]}')).toBe(200);
    expect(await push('{')).toBe(400);
    expect(await push('[]')).toBe(422);
    expect(await push('{}', { 'content-type': 'text/plain' })).toBe(415);
    expect(await push(`{"pad":"${'x'.repeat(8 * 1024 * 1024)}"}`)).toBe(413);
    fail('append', new Fault('unavailable', 'busy'));
    expect(await push(body)).toBe(503);
    fail('append', new Fault('internal', 'a defect'));
    expect(await push(body)).toBe(500);
  });

  test('RLY-1, RLY-14, RLY-17: pulls, tails, and every refusal of one', async () => {
    const pull = (query: string, headers: Record<string, string> = {}) =>
      ask('GET', `/streams/a%2Fb/ops${query}`, { headers });
    expect(await pull('')).toBe(200);
    expect(await pull('?since=2&limit=1&wait=0')).toBe(200);
    expect(await pull('?since=1', { accept: 'text/event-stream', 'last-event-id': '0' })).toBe(200);
    expect(await pull('?since=x')).toBe(400);
    expect(await pull('?since=9')).toBe(409);
    fail('read', new Fault('corrupt', 'a row'));
    expect(await pull('')).toBe(500);
    fail('read', new Fault('unavailable', 'busy'));
    expect(await pull('')).toBe(503);
  });

  test('RLY-15: prefixes and presence', async () => {
    const claim = (uuid: string) => post('/streams/s/register', `{"prefix":"aaaa","replica_uuid":"${uuid}"}`);
    expect([await claim('A'), await claim('B')]).toEqual([200, 200]);
    expect(await post('/streams/s/register', '{}')).toBe(422);
    const hello = (id: string) =>
      post('/streams/s/machines', `{"machine_id":"${id}","name":"Mac","interval_secs":300}`);
    expect([await hello('m1'), await hello('a space')]).toEqual([204, 400]);
    expect(await ask('GET', '/streams/s/machines')).toBe(200);
  });

  test("RLY-19, OPS-1: the operator's routes, and the probes", async () => {
    const urls = ['/v1/streams?limit=1', '/v1/streams', '/v1/streams/a%2Fb', '/v1/intake?wait=0', '/v1/openapi.json'];
    for (const url of [...urls, '/livez', '/readyz', '/metrics']) expect(await ask('GET', url)).toBe(200);
    expect(await ask('DELETE', '/v1/streams/a%2Fb')).toBe(200);
    expect(await ask('GET', '/v1/streams?limit=x')).toBe(400);
    expect(await ask('GET', '/v1/intake?wait=x')).toBe(400);
  });

  test('BRK-5: dead letters', async () => {
    const { broker } = relay;
    await broker.openQueue('0', 1n << 20n);
    const topic = { tenant: '0', table: 'events' };
    const event = { table: 'events', receivedTimestamp: 't', id: 'e', entity: null, data: '{}' };
    const bodies = [encodeEvent(event), Buffer.from('no event'), Buffer.from([0xff])];
    for (const body of bodies) await broker.publish(topic, body);
    const consumer = await broker.consume('0', { name: 'spec', ackWaitMs: 60_000 });
    for (const delivery of await consumer.fetch(3, 0)) await consumer.deadLetter(delivery, 'told to');
    const url = '/v1/dead-letters/0';
    expect(await ask('GET', `${url}?limit=1`)).toBe(200);
    for (const id of [1, 2, 3]) expect(await ask('GET', `${url}/${id}`)).toBe(200);
    expect(await ask('POST', `${url}/1/replay`)).toBe(200);
    expect(await ask('POST', `${url}/1/replay`)).toBe(404);
    expect(await ask('POST', `${url}/2/replay`)).toBe(400);
    expect(await ask('DELETE', `${url}/2`)).toBe(204);
    expect(await ask('DELETE', `${url}/2`)).toBe(404);
    expect(await ask('GET', `${url}/x`)).toBe(400);
    expect(await ask('GET', '/v1/dead-letters/nobody')).toBe(404);
  });

  test('every operation was asked, and answered well', () => {
    const asked = [...seen].filter((one) => / 20[04]$/.test(one)).map((one) => one.split(' ')[0]);
    expect(asked.sort()).toEqual(operations.map(({ operation }) => operation.operationId as unknown as string).sort());
  });
});
