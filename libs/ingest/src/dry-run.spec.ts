import { RESULTS_MAX } from '@tidemark/libs-kernel';
import { IngestWorld, NDJSON, type Post, ndjson } from './spec-world.ts';
import { fixedTables, openTable } from './tables.ts';

async function dryRun(world: IngestWorld, body: string, { type = 'application/json', table = 'events' }: Post = {}) {
  const request = { tenant: undefined, table, contentType: type, body: Buffer.from(body), receivedMs: 0 };
  const answer = await world.service.dryRun(request);
  return { status: answer.status, body: JSON.parse(answer.body) };
}

const strict = () => new IngestWorld({ tables: fixedTables({ '0': [{ ...openTable('events'), requireId: true }] }) });

// kills: dry-run.ts: return { kind: 'valid' }; => return { kind: 'stored', op: prepared.idempotencyKey };
test('ING-9: a dry run judges a record and neither claims, stores nor counts anything', async () => {
  const world = strict();
  expect(await dryRun(world, '{"event_id":"a"}')).toEqual({ status: 200, body: { valid: true } });
  expect(await dryRun(world, '{}')).toEqual({ status: 400, body: { error: 'missing dedupe id field "event_id"' } });
  expect([await world.queued(), world.dedupe.reserves, world.counts, world.lines]).toEqual([[], 0, {}, []]);
  expect((await world.post('{"event_id":"a"}')).body).toEqual({ ok: true });
  expect((await dryRun(world, '{"event_id":"a"}')).body).toEqual({ valid: true });
});

test('ING-9: a dry run of a batch answers in the form of a batch', async () => {
  const { status, body } = await dryRun(strict(), '{"event_id":"a"}\n\n{"event_id":\n{"event_id":"a"}\n{}', NDJSON);
  expect(status).toBe(200);
  expect(body).toEqual({
    total: 4,
    succeeded: 2,
    failed: 2,
    duplicates: 0,
    results: [
      { index: 1, valid: true },
      { index: 2, error: expect.stringMatching(/^invalid json: /) },
      { index: 3, valid: true },
      { index: 4, error: 'missing dedupe id field "event_id"' },
    ],
  });
});

test('ING-9: a dry run is refused as a whole for what any request is refused for', async () => {
  const world = strict();
  expect(await dryRun(world, '[{"event_id":"a"}')).toMatchObject({ status: 400 });
  expect(await dryRun(world, '')).toEqual({ status: 400, body: { error: 'empty body' } });
  expect(await dryRun(world, '{}', { table: 'nope' })).toMatchObject({ status: 404 });
  expect(await dryRun(world, '{}', { type: 'text/plain' })).toMatchObject({ status: 415 });
});

test('OPS-4: others run during a long dry run, whose counts are exact', async () => {
  let pauses = 0;
  const world = new IngestWorld({ pause: async () => void pauses++ });
  const { body } = await dryRun(world, ndjson(RESULTS_MAX + 1000), NDJSON);
  expect([body.total, body.succeeded, body.results.length, pauses]).toEqual([11_000, 11_000, RESULTS_MAX, 42]);
});
