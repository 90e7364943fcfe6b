import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as zlib from 'node:zlib';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Fault } from '@tidemark/libs-kernel';
import { routesOf } from '@tidemark/libs-service-kit';
import { openApiDocument } from './openapi/document.ts';
import { startIngest } from './spec-ingest.ts';

interface Json {
  readonly [name: string]: Json;
}
const document = JSON.parse(JSON.stringify(openApiDocument)) as Json;

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
  ['get', 'post']
    .filter((method) => method in item)
    .map((method) => ({ template, method, operation: item[method] as Json })),
);

let ingest: Awaited<ReturnType<typeof startIngest>>;

beforeAll(async () => {
  ingest = await startIngest();
});
afterAll(() => ingest.close());

test('the document is the one that is committed, and the one that is served', async () => {
  const file = path.resolve(import.meta.dirname, '../../../docs/protocol/ingest.openapi.json');
  // When this fails: apps/ingest/src/openapi/print.ts tells how to write the file.
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(document);
  expect(await (await fetch(`${ingest.url}/v1/openapi.json`)).json()).toEqual(document);
});

test('the document has every route of the running service, and no other', () => {
  const running = routesOf(ingest.app).filter(({ method }) => method !== 'HEAD');
  const told = operations.map(({ template, method }) => `${method.toUpperCase()} ${template}`);
  expect(told.sort()).toEqual(running.map(({ method, url }) => `${method} ${url}`).sort());
});

test('the document points nowhere in vain, and has no part that nothing points to', () => {
  const pointers = nodes(document).flatMap((node) => refOf(node) ?? []);
  expect(pointers.filter((pointer) => at(pointer) === undefined)).toEqual([]);
  const { securitySchemes: _, ...components } = document.components as Json;
  const parts = Object.entries(components).flatMap(([kind, named]) =>
    Object.keys(named).map((name) => `#/components/${kind}/${name}`),
  );
  expect(parts.filter((part) => !pointers.includes(part))).toEqual([]);
  const ajv = new Ajv2020({ strict: true, strictTypes: false });
  for (const schema of Object.values(components.schemas as Json)) expect(ajv.validateSchema(schema)).toBe(true);
});

describe('what ingest answers', () => {
  const ajv = new Ajv2020({ strict: false });
  ajv.addSchema(document, 'ingest');
  const seen = new Set<string>();

  /** Asks, and holds the answer to what the document says of it. */
  async function ask(method: string, url: string, init: RequestInit = {}): Promise<number> {
    const answer = await fetch(`${ingest.url}${url}`, { method, ...init });
    const found = operations.find((one) => one.method === method.toLowerCase() && one.template === url.split('?')[0]);
    const declared = resolved((found?.operation.responses as Json)[String(answer.status)]);
    expect([method, url, answer.status, declared !== undefined]).toEqual([method, url, answer.status, true]);
    seen.add(`${found?.operation.operationId} ${answer.status}`);
    for (const [name, reference] of Object.entries(declared?.headers ?? {}))
      if (resolved(reference)?.required as unknown) expect([name, answer.headers.get(name)]).not.toContain(null);
    const type = answer.headers.get('content-type')?.split(';')[0];
    expect(Object.keys(declared?.content ?? {})).toContain(type);
    if (type === 'application/json') {
      const schema = declared?.content?.['application/json']?.schema?.$ref as unknown as string;
      const valid = ajv.compile({ $ref: `ingest${schema}` });
      const body = await answer.text();
      valid(JSON.parse(body));
      expect([body, valid.errors]).toEqual([body, null]);
    }
    return answer.status;
  }
  const post = (body: string | Uint8Array<ArrayBuffer>, query = '', headers: Record<string, string> = {}) =>
    ask('POST', `/v1/ingest?table=events${query}`, {
      body,
      headers: { 'content-type': 'application/json', ...headers },
    });

  test('ING-1: events, and every refusal of them', async () => {
    expect(await post('{"event_id":"a"}')).toBe(200);
    expect(await post('{"event_id":"a"}')).toBe(200);
    expect(await post('[{"event_id":"a"},{"event_id":"b"},{},[]]')).toBe(200);
    expect(await post('{"event_id":"c"}\n{', '', { 'content-type': 'application/jsonl' })).toBe(200);
    expect(await post('[]')).toBe(200);
    expect(await post('{"event_id":"d"}', '&validate=1')).toBe(200);
    expect(await post('[{"event_id":"d"},{"event_id":[]}]', '&validate=1')).toBe(200);
    expect(await post(Uint8Array.from(zlib.gzipSync('{"event_id":"z"}')), '', { 'content-encoding': 'gzip' })).toBe(
      200,
    );
    expect(await post('{')).toBe(400);
    expect(await post('{}', '&validate=2')).toBe(400);
    expect(await post('{}', '', { 'x-tenant-id': 'acme' })).toBe(404);
    expect(await post(`{"s":"${'x'.repeat(2 * 1024 * 1024)}"}`)).toBe(413);
    expect(await post('{}', '', { 'content-type': 'text/plain' })).toBe(415);
    expect(await post('{}', '', { 'content-encoding': 'deflate' })).toBe(415);
    jest.spyOn(ingest.broker, 'publish').mockResolvedValueOnce({ kind: 'unknown', detail: 'x' });
    expect(await post('{"event_id":"e"}')).toBe(500);
    jest.spyOn(ingest.broker, 'publish').mockResolvedValueOnce({ kind: 'full', detail: 'x' });
    expect(await post('{"event_id":"f"}')).toBe(503);
  });

  test('ING-9, OPS-1: tables, the document and the probes', async () => {
    for (const url of ['/v1/tables', '/v1/openapi.json', '/livez', '/readyz', '/metrics'])
      expect(await ask('GET', url)).toBe(200);
    expect(await ask('GET', '/v1/tables', { headers: { 'x-tenant-id': 'acme' } })).toBe(404);
    jest.spyOn(ingest.service, 'listTables').mockImplementationOnce(() => {
      throw new Fault('internal', 'a defect');
    });
    expect(await ask('GET', '/v1/tables')).toBe(500);
  });

  test('every operation was asked, and answered well', () => {
    const asked = [...seen].filter((one) => one.endsWith(' 200')).map((one) => one.split(' ')[0]);
    expect(asked.sort()).toEqual(operations.map(({ operation }) => operation.operationId as unknown as string).sort());
  });
});
