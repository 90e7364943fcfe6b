import { Fault, DUPLICATE_WINDOW_MS, LEASE_MS_DEFAULT } from '@tidemark/libs-kernel';
import { IngestWorld, LEASE_MS, NDJSON, key, ndjson } from './spec-world.ts';
import { fixedTables, openTable } from './tables.ts';

const ids = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => String(from + i));
/** Last record of the window that record k is in, of 600. */
const windowEnd = (k: number) => Math.min(600, Math.ceil(k / 256) * 256);
/** Ids from record k to the end of the window after its own, whose ids are claimed while k's is published. */
const givenBack = (k: number) => ids(k, Math.min(600, windowEnd(k) + 256));
const UNAVAILABLE = () => new Fault('unavailable', 'throttled');
const IN_FLIGHT = { error: 'a request with the same dedupe id is in flight' };

test.each([1, 255, 256, 257, 600, 1000])(
  'ING-2: %i records with ids take one Reserve and one Commit per 256',
  async (count) => {
    const world = new IngestWorld();
    const { status, body } = await world.post(ndjson(count), NDJSON);
    expect([status, body.total, body.succeeded]).toEqual([200, count, count]);
    const windows = Math.ceil(count / 256);
    expect([world.dedupe.reserves, world.dedupe.commits, world.dedupe.releases]).toEqual([windows, windows, 0]);
    expect(await world.queuedIds()).toEqual(ids(1, count));
    expect(world.dedupe.committed(key(String(count)))).toBe(true);
    expect(world.dedupe.retentionMs(key('1'))).toBe(0);
  },
);

test('ING-2: records without id take no Reserve and no Commit', async () => {
  const world = new IngestWorld();
  const { body } = await world.post('{"a":1}\n'.repeat(300), NDJSON);
  expect(body.succeeded).toBe(300);
  expect([world.dedupe.reserves, world.dedupe.commits, world.broker.publishes]).toEqual([0, 0, 300]);
  expect(world.counts).toEqual({ missing_id: 300, stored: 300 });
  expect(world.lines).toEqual(['warn: records without dedupe id']);
});

describe('one publish at a time', () => {
  const oneByOne = () => new IngestWorld({ publishesInFlightMax: 1 });

  test.each([1, 100, 256, 257, 590])(
    'ING-2, ING-3: refused at %i: what is before is committed, the rest of the window and the next one released',
    async (k) => {
      const world = oneByOne();
      world.endPublish(k, 'full');
      const { status, headers, body } = await world.post(ndjson(600), NDJSON);
      expect([status, body]).toEqual([503, { error: 'service unavailable' }]);
      expect(headers).toEqual({ 'Retry-After': '30', 'Tidemark-Outcome': k === 1 ? 'not-done' : 'partly' });
      expect(await world.queuedIds()).toEqual(ids(1, k - 1));
      expect(ids(1, k - 1).every((id) => world.dedupe.committed(key(id)))).toBe(true);
      expect(world.dedupe.released.map(({ id }) => id)).toEqual(givenBack(k));
      expect(world.dedupe.pending(key(String(k)))).toBe(false);
      expect(world.dedupe.reserves).toBe(Math.min(3, Math.ceil(k / 256) + 1));
      expect(givenBack(k).some((id) => world.dedupe.pending(key(id)))).toBe(false);
    },
  );

  test.each([1, 100, 256, 257, 590])('I1: refused at %i, the whole batch again leaves every record once', async (k) => {
    const world = oneByOne();
    world.endPublish(k, 'full');
    await world.post(ndjson(600), NDJSON);
    const { status, body } = await world.post(ndjson(600), NDJSON);
    expect([status, body.duplicates, body.succeeded]).toEqual([200, k - 1, 600 - (k - 1)]);
    expect((await world.queuedIds()).sort()).toEqual(ids(1, 600).sort());
  });

  // kills: settle.ts: unknown: 'lapse', => unknown: 'release',
  test.each([100, 400])('ING-2: failed without a certain answer at %i: that claim is left to lapse', async (k) => {
    const world = oneByOne();
    world.endPublish(k, 'unknown');
    const { status, headers, body } = await world.post(ndjson(600), NDJSON);
    expect([status, body]).toEqual([500, { error: 'publish failed' }]);
    expect(headers).toEqual({ 'Tidemark-Outcome': 'unknown' });
    expect(world.dedupe.released.map(({ id }) => id)).toEqual(givenBack(k).slice(1));
    expect([world.dedupe.pending(key(String(k))), world.dedupe.committed(key(String(k)))]).toEqual([true, false]);
    expect(world.dedupe.committed(key(String(k - 1)))).toBe(true);
    expect(world.lines).toEqual(['error: publish failed']);
  });

  test('ING-2: a broker out of reach asks for the lease when the record has a claim, for 5 s when it has none', async () => {
    const world = new IngestWorld({ publishesInFlightMax: 1, leaseMs: 12_300 });
    world.endPublish(2, 'unavailable');
    const keyed = await world.post(ndjson(3), NDJSON);
    expect([keyed.status, keyed.headers['Retry-After'], keyed.body]).toEqual([
      503,
      '13',
      { error: 'service unavailable' },
    ]);
    expect(world.dedupe.released).toEqual([key('3')]);
    world.endPublish(2, 'unavailable');
    const unkeyed = await world.post('{"event_id":"x"}\n{}\n{"event_id":"y"}', NDJSON);
    expect([unkeyed.status, unkeyed.headers]).toEqual([503, { 'Retry-After': '5', 'Tidemark-Outcome': 'unknown' }]);
    expect(world.dedupe.released).toEqual([key('3'), key('y')]);
  });
});

describe('publishes side by side', () => {
  test('ING-2, ING-3: a refused record is released, everything else of its window was stored and is committed', async () => {
    const world = new IngestWorld();
    world.endPublish(100, 'full');
    const { status, headers } = await world.post(ndjson(600), NDJSON);
    expect([status, headers]).toEqual([503, { 'Retry-After': '30', 'Tidemark-Outcome': 'partly' }]);
    expect(world.dedupe.released).toEqual(['100', ...ids(257, 512)].map(key));
    expect([world.dedupe.reserves, world.dedupe.commits, world.broker.publishes]).toEqual([2, 1, 256]);
    const again = await world.post(ndjson(600), NDJSON);
    expect([again.body.duplicates, again.body.succeeded]).toEqual([255, 345]);
    expect((await world.queuedIds()).sort()).toEqual(ids(1, 600).sort());
  });

  test('ING-2, ING-3: of several failures the lowest is the status, the longest wait is asked, each claim has its own end', async () => {
    const world = new IngestWorld();
    world.endPublish(2, 'unknown');
    world.endPublish(4, 'full');
    const { status, headers, body } = await world.post(ndjson(5), NDJSON);
    expect([status, body]).toEqual([500, { error: 'publish failed' }]);
    expect(headers).toEqual({ 'Retry-After': '30', 'Tidemark-Outcome': 'unknown' });
    expect(ids(1, 5).map((id) => world.dedupe.committed(key(id)))).toEqual([true, false, true, false, true]);
    expect([world.dedupe.pending(key('2')), world.dedupe.released]).toEqual([true, [key('4')]]);
  });

  test('ING-3: an ordered table publishes one by one', async () => {
    const ordered = { ...openTable('events'), ordered: true };
    const world = new IngestWorld({ tables: fixedTables({ '0': [ordered] }) });
    world.endPublish(2, 'full');
    await world.post(ndjson(5), NDJSON);
    expect([world.broker.publishes, await world.queuedIds()]).toEqual([2, ['1']]);
  });
});

describe('the dedupe store fails', () => {
  test.each([
    ['the first window', 1, 600, 0, 'not-done'],
    ['the second window', 2, 600, 256, 'partly'],
    ['the third window', 3, 600, 512, 'partly'],
  ])(
    'I2, ING-2: Reserve of %s is refused: 503, nothing of it or later is published',
    async (_name, nth, count, stored, outcome) => {
      const world = new IngestWorld();
      failReserve(world, nth, UNAVAILABLE());
      const { status, headers, body } = await world.post(ndjson(count), NDJSON);
      expect([status, body]).toEqual([503, { error: 'dedupe store unavailable' }]);
      expect(headers).toEqual({ 'Retry-After': '5', 'Tidemark-Outcome': outcome });
      expect(await world.queuedIds()).toEqual(ids(1, stored));
      expect(ids(1, stored).every((id) => world.dedupe.committed(key(id)))).toBe(true);
      expect(world.dedupe.reserves).toBe(nth);
      expect(world.lines).toEqual(['warn: reserve failed']);
    },
  );

  test('I2, ING-2: a single object meets the same 503', async () => {
    const world = new IngestWorld();
    world.dedupe.failNext('reserve', UNAVAILABLE());
    const { status, headers, body } = await world.post('{"event_id":"a"}');
    expect([status, headers['Retry-After'], body]).toEqual([503, '5', { error: 'dedupe store unavailable' }]);
    expect(world.broker.publishes).toBe(0);
  });

  test('ING-2: a Reserve that fails otherwise is 500 and nothing is published', async () => {
    const world = new IngestWorld();
    world.dedupe.failNext('reserve', new Fault('misconfigured', 'no table'));
    const { status, headers, body } = await world.post('{"event_id":"a"}');
    expect([status, headers, body]).toEqual([500, { 'Tidemark-Outcome': 'not-done' }, { error: 'dedupe failed' }]);
    expect([world.broker.publishes, world.lines]).toEqual([0, ['error: reserve failed']]);
  });

  test('ING-2: after a failed Commit the records are answered ok, told to the operator and counted', async () => {
    const world = new IngestWorld();
    world.dedupe.failNext('commit', UNAVAILABLE());
    const { status, body } = await world.post(ndjson(3), NDJSON);
    expect([status, body.succeeded]).toEqual([200, 3]);
    expect(world.counts).toEqual({ stored: 3, commit_failed: 3 });
    expect(world.lines).toEqual(['error: commit failed; the events are stored']);
  });

  test('ING-3: an id whose Commit failed in an earlier window of the request is its duplicate, not in flight', async () => {
    const world = new IngestWorld();
    world.dedupe.failNext('commit', UNAVAILABLE());
    const { status, body } = await world.post(`${ndjson(256)}{"event_id":"7"}\n`, NDJSON);
    expect([status, body.succeeded, body.duplicates]).toEqual([200, 256, 1]);
    expect(body.results[256]).toMatchObject({ index: 257, duplicate: true });
  });

  test('ING-2: a failed Release leaves the answer as it is', async () => {
    const world = new IngestWorld({ publishesInFlightMax: 1 });
    world.endPublish(2, 'full');
    world.dedupe.failNext('release', UNAVAILABLE());
    const { status, headers } = await world.post(ndjson(3), NDJSON);
    expect([status, headers['Retry-After']]).toEqual([503, '30']);
    expect(world.lines).toEqual(['warn: release failed; the claims lapse', 'warn: service unavailable']);
  });
});

test('ING-2: an id held elsewhere in window 2 releases the window and leaves the foreign claim alone', async () => {
  const world = new IngestWorld();
  await world.dedupe.hold(key('300'), LEASE_MS);
  const { status, headers, body } = await world.post(ndjson(600), NDJSON);
  expect([status, body]).toEqual([503, IN_FLIGHT]);
  expect(headers).toEqual({ 'Retry-After': '30', 'Tidemark-Outcome': 'partly' });
  expect(await world.queuedIds()).toEqual(ids(1, 256));
  expect(world.dedupe.released.map(({ id }) => id)).toEqual(ids(257, 512).filter((id) => id !== '300'));
  expect((await world.post('{"event_id":"300"}')).body).toEqual(IN_FLIGHT);
  world.time.advance(LEASE_MS);
  expect((await world.post('{"event_id":"300"}')).body).toEqual({ ok: true });
});

test('ING-2: a key in flight holds back the records without id of its window too', async () => {
  const world = new IngestWorld();
  await world.dedupe.hold(key('b'), LEASE_MS);
  const { status, headers } = await world.post('{}\n{"event_id":"a"}\n{"event_id":"b"}', NDJSON);
  expect([status, headers['Tidemark-Outcome'], world.broker.publishes]).toEqual([503, 'not-done', 0]);
});

describe('the next window is opened while one is published', () => {
  /** Steps in before the last publish of window 1 ends, when everything has run that can run without it. */
  function duringWindow1(world: IngestWorld, work: () => void): void {
    world.beforePublish(256, async () => {
      for (let turn = 0; turn < 100; turn++) await undefined;
      work();
    });
  }

  test('ING-3: its ids are claimed meanwhile, and nothing of it or of a later one is published', async () => {
    const world = new IngestWorld();
    const seen: unknown[] = [];
    duringWindow1(world, () => {
      const claimed = ['257', '512', '513'].map((id) => world.dedupe.pending(key(id)));
      seen.push(world.dedupe.reserves, ...claimed, world.broker.publishes);
    });
    const { body } = await world.post(ndjson(1000), NDJSON);
    expect(seen).toEqual([2, true, true, false, 256]);
    expect([body.succeeded, world.dedupe.reserves, world.dedupe.commits]).toEqual([1000, 4, 4]);
    expect(await world.queuedIds()).toEqual(ids(1, 1000));
  });

  // kills: window.ts: ...this.#uncommitted, ...this.#claimed => ...this.#uncommitted
  test('ING-3: an id claimed by the window before is its duplicate, also when it comes again two windows later', async () => {
    const world = new IngestWorld();
    const lines = [...ids(1, 256), '7', ...ids(257, 511), '7', '300'].map((id) => `{"event_id":"${id}"}`);
    const { status, body } = await world.post(lines.join('\n'), NDJSON);
    expect([status, body.succeeded, body.duplicates, body.failed]).toEqual([200, 511, 3, 0]);
    expect([256, 512, 513].map((at) => body.results[at].duplicate)).toEqual([true, true, true]);
    expect((await world.queuedIds()).sort()).toEqual(ids(1, 511).sort());
  });

  // kills: window.ts: verdicts[at] === 'too_large' => false
  test('ING-3, I19: the repeat of a record that the queue refused in the window before is no duplicate', async () => {
    const world = new IngestWorld();
    world.endPublish(7, 'too_large');
    const { status, body } = await world.post(`${ndjson(256)}{"event_id":"7"}\n{"event_id":"8"}\n`, NDJSON);
    expect([status, body.succeeded, body.duplicates, body.failed]).toEqual([200, 255, 1, 2]);
    expect(body.results[256].error).toMatch('an earlier record with the same id');
    expect(world.dedupe.pending(key('7'))).toBe(false);
  });

  test('ING-3: when it cannot be reserved, the window before is committed and answered by that failure', async () => {
    const world = new IngestWorld();
    failReserve(world, 2, UNAVAILABLE());
    const { status, headers } = await world.post(ndjson(600), NDJSON);
    expect([status, headers['Tidemark-Outcome']]).toEqual([503, 'partly']);
    expect([await world.queuedIds(), world.dedupe.commits]).toEqual([ids(1, 256), 1]);
  });

  test('ING-3: when both fail, the answer is that of the earlier one', async () => {
    const world = new IngestWorld();
    failReserve(world, 2, UNAVAILABLE());
    world.endPublish(100, 'unknown');
    const { status, headers, body } = await world.post(ndjson(600), NDJSON);
    expect([status, body]).toEqual([500, { error: 'publish failed' }]);
    expect(headers).toEqual({ 'Tidemark-Outcome': 'unknown' });
  });

  test('ING-3: its claims hold from their own reserve; publishing that begins too late is not begun', async () => {
    const world = new IngestWorld();
    duringWindow1(world, () => world.time.advance(LEASE_MS));
    const { status, headers } = await world.post(ndjson(600), NDJSON);
    expect([status, headers['Tidemark-Outcome']]).toEqual([503, 'partly']);
    expect(await world.queuedIds()).toEqual(ids(1, 256));
    expect(ids(257, 512).some((id) => world.dedupe.pending(key(id)))).toBe(false);
  });

  // kills: window.ts: kind !== 'in_flight' => true
  test('ING-3: a window that fails already claims nothing for a later one', async () => {
    const world = new IngestWorld();
    await world.dedupe.hold(key('5'), LEASE_MS);
    expect((await world.post(ndjson(600), NDJSON)).status).toBe(503);
    expect([world.dedupe.reserves, world.broker.publishes]).toEqual([1, 0]);
  });

  test('I19: records of a window that was given up are counted as not sent', async () => {
    const world = new IngestWorld({ publishesInFlightMax: 1 });
    world.endPublish(10, 'full');
    await world.post(ndjson(600), NDJSON);
    expect(world.counts).toEqual({ stored: 9, refused: 1, unsent: 246 + 256 });
  });
});

// kills: ingest-service.ts: mayStore(window) ? openLater() : null => mayStore(window) ? openNext() : null
test('OPS-4: others run between windows of a long request, also when it waits for nobody', async () => {
  let pauses = 0;
  const world = new IngestWorld({ pause: async () => void pauses++ });
  const { body } = await world.post('1\n'.repeat(10 * 256), NDJSON);
  expect([body.failed, pauses]).toEqual([2560, 10]);
});

test('ING-6: with the default lease an obedient client still meets the duplicate window', () => {
  expect(2 * LEASE_MS_DEFAULT + 1000).toBeLessThanOrEqual(DUPLICATE_WINDOW_MS);
});

/** The Reserve that comes as number `nth` fails. */
function failReserve(world: IngestWorld, nth: number, fault: Fault): void {
  if (nth === 1) return world.dedupe.failNext('reserve', fault);
  // Planned while the window before it publishes its last record.
  world.beforePublish((nth - 1) * 256, async () => world.dedupe.failNext('reserve', fault));
}
