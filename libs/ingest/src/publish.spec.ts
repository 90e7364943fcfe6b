import type { Broker, PublishOutcome } from '@tidemark/libs-broker-contract';
import { type Publishable, publishAll } from './publish.ts';

const TOPIC = { tenant: '0', table: 'events' };
const STORED: PublishOutcome = { kind: 'stored', seq: 1n };
const failed = (kind: 'full' | 'too_large' | 'unavailable' | 'unknown'): PublishOutcome => ({
  kind,
  detail: `is ${kind}`,
});

/** The events of a window; the body of the event at position n is the byte n. */
const events = (count: number): Publishable[] =>
  Array.from({ length: count }, (_, i) => ({
    body: Uint8Array.of(i),
    idempotencyKey: i % 2 === 0 ? `key ${i}` : null,
  }));

/** Publishes that wait to be answered by the test. */
class HeldPublishes implements Pick<Broker, 'publish'> {
  readonly begun: number[] = [];
  readonly #answers: ((outcome: PublishOutcome) => void)[] = [];

  publish(_topic: unknown, body: Uint8Array): Promise<PublishOutcome> {
    this.begun.push(body[0]!);
    return new Promise((resolve) => this.#answers.push(resolve));
  }

  /** Answers the publish that began as number `nth`, and lets everything that follows from it happen. */
  async answer(nth: number, outcome: PublishOutcome): Promise<void> {
    this.#answers[nth]!(outcome);
    for (let turns = 0; turns < 10; turns++) await Promise.resolve();
  }
}

const run = (count: number, broker: Pick<Broker, 'publish'>, inFlightMax: number, maySend = () => true) =>
  publishAll(events(count), TOPIC, broker, { inFlightMax, maySend });

/** Answers at once, by position. */
const answering = (outcomeOf: (position: number) => PublishOutcome): Pick<Broker, 'publish'> => ({
  publish: async (_topic, body) => outcomeOf(body[0]!),
});

test('ING-3: with room for all, every publish begins in record order before any is answered', async () => {
  const broker = new HeldPublishes();
  const publication = run(5, broker, 256);
  expect(broker.begun).toEqual([0, 1, 2, 3, 4]);
  for (const nth of [4, 2, 0, 1, 3]) await broker.answer(nth, STORED);
  expect((await publication).sent).toEqual(Array(5).fill('stored'));
});

test.each([1, 2, 3])(
  'ING-3: never more than %i publishes wait together, and they begin in record order',
  async (max) => {
    const broker = new HeldPublishes();
    const publication = run(7, broker, max);
    for (let answered = 0; answered < 7; answered++) {
      await Promise.resolve();
      expect(broker.begun).toEqual([0, 1, 2, 3, 4, 5, 6].slice(0, Math.min(7, answered + max)));
      await broker.answer(answered, STORED);
    }
    expect((await publication).sent).toHaveLength(7);
  },
);

test.each(['full', 'unavailable', 'unknown'] as const)('ING-2: one by one, nothing is sent after %s', async (kind) => {
  const publication = await run(
    5,
    answering((position) => (position === 2 ? failed(kind) : STORED)),
    1,
  );
  expect(publication).toEqual({ sent: ['stored', 'stored', kind, 'not_sent', 'not_sent'], detail: `is ${kind}` });
});

test('ING-2: what was sent beside the failing publish is waited for and keeps its own outcome', async () => {
  const broker = new HeldPublishes();
  const publication = run(5, broker, 3);
  await broker.answer(1, failed('full'));
  await broker.answer(0, STORED);
  expect(broker.begun).toEqual([0, 1, 2]);
  await broker.answer(2, failed('unavailable'));
  expect(await publication).toEqual({
    sent: ['stored', 'full', 'unavailable', 'not_sent', 'not_sent'],
    detail: 'is full',
  });
});

test('I16, ING-11b: a record that the broker finds too large does not stop the others', async () => {
  const publication = await run(
    3,
    answering((position) => (position === 1 ? failed('too_large') : STORED)),
    1,
  );
  expect(publication).toEqual({ sent: ['stored', 'too_large', 'stored'], detail: null });
});

test('ING-2: a broker that throws leaves the outcome unknown', async () => {
  const late = await run(2, { publish: () => Promise.reject(new Error('lost')) }, 1);
  expect(late).toEqual({ sent: ['unknown', 'not_sent'], detail: 'lost' });
  const thrower = () => {
    throw 'early';
  };
  expect(await run(1, { publish: thrower }, 1)).toEqual({ sent: ['unknown'], detail: 'early' });
});

test('I5: once the claims may have lapsed nothing more is sent', async () => {
  let sends = 2;
  expect(
    await run(
      4,
      answering(() => STORED),
      1,
      () => sends-- > 0,
    ),
  ).toEqual({
    sent: ['stored', 'stored', 'not_sent', 'not_sent'],
    detail: null,
  });
});

test('ING-2: only a record with an id carries an idempotency key', async () => {
  const given: unknown[] = [];
  const broker: Pick<Broker, 'publish'> = {
    publish: async (topic, _body, options) => {
      given.push([topic, options]);
      return { kind: 'duplicate', seq: 7n };
    },
  };
  expect((await run(2, broker, 256)).sent).toEqual(['duplicate', 'duplicate']);
  expect(given).toEqual([
    [TOPIC, { idempotencyKey: 'key 0' }],
    [TOPIC, {}],
  ]);
});

test('ING-2: no records, no publishes', async () => {
  expect(
    await run(
      0,
      answering(() => STORED),
      1,
    ),
  ).toEqual({ sent: [], detail: null });
});
