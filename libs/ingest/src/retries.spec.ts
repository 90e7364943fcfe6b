import fc from 'fast-check';
import { Fault } from '@tidemark/libs-kernel';
import { IngestWorld, NDJSON, key } from './spec-world.ts';

/** Something that goes wrong while a batch is sent. */
type Trouble =
  | { readonly at: number; readonly what: 'full' | 'unavailable' | 'unknown' | 'lost' }
  | { readonly what: 'reserve' | 'commit' | 'release' | 'crash' };

const trouble: fc.Arbitrary<Trouble> = fc.oneof(
  fc.record({ at: fc.integer({ min: 1, max: 300 }), what: fc.constantFrom('full', 'unavailable', 'unknown', 'lost') }),
  fc.record({ what: fc.constantFrom('reserve', 'commit', 'release', 'crash') }),
);

function cause(world: IngestWorld, one: Trouble): void {
  if (!('at' in one)) {
    if (one.what === 'crash') world.store.forgetClaims();
    else world.dedupe.failNext(one.what, new Fault('unavailable', 'told to fail'));
  } else if (one.what === 'lost') world.endPublish(one.at, 'unknown', true);
  else world.endPublish(one.at, one.what);
}

interface World {
  ids: number[];
  troubles: Trouble[][];
  inFlightMax: number;
}

/** A refused Reserve did nothing, whatever an earlier request left in the queue. */
const REFUSED_BEFORE_RESERVE_FAILS: World = {
  ids: [1, 2],
  troubles: [[{ at: 1, what: 'full' }], [{ what: 'reserve' }]],
  inFlightMax: 7,
};

test('I1, I20, ING-2: whatever fails, a client that repeats its batch until it is answered leaves every id in the queue once', async () => {
  const world: fc.Arbitrary<World> = fc.record({
    ids: fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 320 }),
    troubles: fc.array(fc.array(trouble, { maxLength: 3 }), { maxLength: 4 }),
    inFlightMax: fc.constantFrom(1, 7, 256),
  });
  await fc.assert(
    fc.asyncProperty(world, ({ ids, troubles, inFlightMax }) => repeatUntilDone(ids, troubles, inFlightMax)),
    { numRuns: 500, examples: [[REFUSED_BEFORE_RESERVE_FAILS]] },
  );
});

async function repeatUntilDone(ids: number[], troubles: Trouble[][], inFlightMax: number): Promise<void> {
  // A short lease keeps every retry inside the broker's duplicate window, as ING-6 asks.
  const leaseMs = 2000;
  const world = new IngestWorld({ leaseMs, publishesInFlightMax: inFlightMax });
  const batch = ids.map((id) => `{"event_id":${id}}`).join('\n');
  for (let round = 0; ; round++) {
    for (const one of troubles[round] ?? []) cause(world, one);
    const before = await world.queuedIds();
    const { status, headers, body } = await world.post(batch, NDJSON);
    if (status === 200) {
      expect([body.failed, body.succeeded + body.duplicates]).toEqual([0, ids.length]);
      break;
    }
    expect(['not-done', 'partly', 'unknown']).toContain(headers['Tidemark-Outcome']);
    if (headers['Tidemark-Outcome'] === 'not-done') expect(await world.queuedIds()).toEqual(before);
    // The client obeys; where nothing is asked it waits one lease, after which any claim of its own has lapsed.
    world.time.advance(Math.min(Number(headers['Retry-After'] ?? 2), 2) * 1000);
    expect(round).toBeLessThan(40);
  }
  const distinct = [...new Set(ids)].map(String);
  expect((await world.queuedIds()).sort()).toEqual(distinct.sort());
  if (troubles.flat().every(({ what }) => what !== 'commit')) {
    expect(distinct.filter((id) => !world.dedupe.committed(key(id)))).toEqual([]);
  }
}
