import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as zlib from 'node:zlib';
import { Fault } from '@tidemark/libs-kernel';
import { routesOf } from '@tidemark/libs-service-kit';
import { OpenApiCheck } from '@tidemark/libs-service-kit/testing';
import { openApiDocument } from './openapi/document.ts';
import { startIngest } from './spec-ingest.ts';

const check = new OpenApiCheck(openApiDocument);
let ingest: Awaited<ReturnType<typeof startIngest>>;

beforeAll(async () => {
  ingest = await startIngest();
});
afterAll(() => ingest.close());

test('the document is the one that is committed, and the one that is served', async () => {
  const file = path.resolve(import.meta.dirname, '../../../docs/protocol/ingest.openapi.json');
  // When this fails: apps/ingest/src/openapi/print.ts tells how to write the file.
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(check.document);
  expect(await (await fetch(`${ingest.url}/v1/openapi.json`)).json()).toEqual(check.document);
});

test('the document has every route of the running service, and no other', () => {
  const running = routesOf(ingest.app).filter(({ method }) => method !== 'HEAD');
  expect(check.routes).toEqual(running.map(({ method, url }) => `${method} ${url}`).sort());
});

test('the document points nowhere in vain, and has no part that nothing points to', () => {
  expect(check.defects()).toEqual([]);
});

describe('what ingest answers', () => {
  const ask = (method: string, place: string, init?: RequestInit) => check.ask(ingest.url, method, place, init);
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
    expect(check.unanswered()).toEqual([]);
  });
});
