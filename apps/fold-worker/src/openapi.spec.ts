import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Fault } from '@tidemark/libs-kernel';
import { routesOf } from '@tidemark/libs-service-kit';
import { OpenApiCheck } from '@tidemark/libs-service-kit/testing';
import { openApiDocument } from './openapi/document.ts';
import { STREAM, startFold } from './spec-fold.ts';

const check = new OpenApiCheck(openApiDocument);
let fold: Awaited<ReturnType<typeof startFold>>;

beforeAll(async () => {
  fold = await startFold();
  await fold.append('a', 'b');
  await fold.worker.tick();
});
afterAll(() => fold.close());

const ask = (method: string, place: string) => check.ask(fold.url, method, place);
const ofStream = (place: string, method = 'GET') => ask(method, `/v1/streams/${STREAM}${place}`);

test('the document is the one that is committed, and the one that is served', async () => {
  const file = path.resolve(import.meta.dirname, '../../../docs/protocol/fold.openapi.json');
  // When this fails: apps/fold-worker/src/openapi/print.ts tells how to write the file.
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(check.document);
  expect(await (await fetch(`${fold.url}/v1/openapi.json`)).json()).toEqual(check.document);
});

test('the document is sound, has every route of the running service, and no other', () => {
  expect(check.defects()).toEqual([]);
  const running = routesOf(fold.app).filter(({ method }) => method !== 'HEAD');
  expect(check.routes).toEqual(
    running.map(({ method, url }) => `${method} ${url.replaceAll(/:(\w+)/g, '{$1}')}`).sort(),
  );
});

describe('what the fold worker answers', () => {
  test('FLD-8: to readers', async () => {
    expect(await ofStream('/documents/events/a')).toBe(200);
    expect(await ofStream('/documents/events/none')).toBe(404);
    expect(await ofStream('/documents/events?limit=1')).toBe(200);
    expect(await ofStream('/documents/events?limit=0')).toBe(400);
    expect(await ofStream('/watermark?min_op=b-1&wait=1')).toBe(200);
    expect(await ofStream('/watermark?min_seq=99')).toBe(504);
    expect(await ofStream('/watermark?min_seq=x')).toBe(400);
    jest.spyOn(fold.views, 'mark').mockRejectedValueOnce(new Fault('unavailable', 'no server'));
    expect(await ofStream('/watermark')).toBe(503);
    jest.spyOn(fold.views, 'mark').mockRejectedValueOnce(new Fault('corrupt', 'no mark'));
    expect(await ofStream('/watermark')).toBe(500);
  });

  test('FLD-6, FLD-7: to operators', async () => {
    const parked = { seq: 2n, opId: 'b-1', reason: 'for the test', parkedAtMs: 1_790_000_000_000, attempts: 1 };
    await fold.views.park(STREAM, 1, parked);
    expect(await ofStream('/parked')).toBe(200);
    expect(await ofStream('/parked?after=x')).toBe(400);
    expect(await ofStream('/parked/2/retry', 'POST')).toBe(200);
    expect(await ofStream('/parked/2/retry', 'POST')).toBe(404);
    await fold.views.park(STREAM, 1, parked);
    expect(await ofStream('/parked/2', 'DELETE')).toBe(204);
    expect(await ofStream('/parked/2', 'DELETE')).toBe(404);
    for (const place of ['/v1/fold', '/v1/fold/streams', '/v1/fold/holes']) expect(await ask('GET', place)).toBe(200);
    expect(await ask('POST', '/v1/streams/none/rebuild')).toBe(404);
    expect(await ofStream('/rebuild', 'POST')).toBe(202);
    expect(await ofStream('/rebuild', 'POST')).toBe(409);
    expect(await ask('GET', '/v1/fold/streams')).toBe(200);
    expect(await ask('POST', '/v1/fold/rebuild')).toBe(202);
  });

  test('OPS-1: the document and the probes', async () => {
    for (const place of ['/v1/openapi.json', '/livez', '/readyz', '/metrics'])
      expect(await ask('GET', place)).toBe(200);
  });

  test('every operation was asked, and answered well', () => {
    expect(check.unanswered()).toEqual([]);
  });
});
