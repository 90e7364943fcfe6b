import { REJECT_REASONS } from './prepare.ts';
import { IngestWorld, NDJSON, key } from './spec-world.ts';
import { fixedTables, openTable } from './tables.ts';

test('#94: rejected records are counted by why, each once', async () => {
  const tables = fixedTables({ '0': [{ ...openTable('events'), requireId: true }] });
  const world = new IngestWorld({ tables });
  await world.post('{"event_id":\n[]\n{"event_id":{}}\n{"event_id":1,"event_id":2}\n{}\n{}\n{"event_id":"a"}', NDJSON);
  expect(world.details).toEqual([
    '1 0/events rejected: json',
    '1 0/events rejected: shape',
    '1 0/events rejected: repeated',
    '1 0/events rejected: id',
    '2 0/events rejected: missing_id',
    '1 0/events published: stored',
  ]);
  expect(world.counts).toEqual({ rejected: 6, missing_id: 2, stored: 1 });
  expect(new Set(REJECT_REASONS).size).toBe(REJECT_REASONS.length);
});

test('events are counted by what the queue said', async () => {
  const world = new IngestWorld({ publishesInFlightMax: 1 });
  world.endPublish(2, 'full');
  await world.post('{"event_id":"a"}\n{"event_id":"b"}\n{"event_id":"c"}', NDJSON);
  expect(world.details).toEqual(['1 0/events published: stored', '1 0/events published: full']);
});

// kills: observe.ts: if (fate.kind === 'rejected' || fate.kind === 'duplicate' || fate.kind === 'in_flight') return fate.kind; => if (fate.kind === 'rejected' || fate.kind === 'duplicate') return fate.kind; if (fate.kind === 'in_flight') return 'unsent';
test('a record whose id another request holds is counted as that, and the others of its window as unsent', async () => {
  const world = new IngestWorld();
  await world.dedupe.reserve([key('b')], 30_000);
  await world.post('{"event_id":"a"}\n{"event_id":"b"}', NDJSON);
  expect(world.counts).toEqual({ unsent: 1, in_flight: 1 });
});

test('a window is timed from its records to the marking of its ids', async () => {
  const world = new IngestWorld();
  world.beforePublish(1, async () => world.time.advance(250));
  await world.post('{"event_id":"a"}');
  await world.post('{"event_id":"b"}');
  expect(world.windowsMs).toEqual([250, 0]);
});

test('what lasts does not fill the log: one line a minute', async () => {
  const world = new IngestWorld();
  for (let i = 0; i < 70; i++) {
    await world.post('{}');
    world.time.advance(1000);
  }
  expect(world.lines).toEqual(Array(2).fill('warn: records without dedupe id'));
});
