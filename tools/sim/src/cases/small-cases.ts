import type { OpStore, ReadPage } from '@tidemark/libs-op-store-contract';
import type { Op } from '@tidemark/libs-wire';
import { RawTable } from '../actors/raw.ts';
import { type Strength, strengths } from '../dynamo/weather.ts';
import { someOps } from '../some-op.ts';
import type { StoreSettings, World } from '../world.ts';
import { STREAM, type SmallCase } from './small-case.ts';

/** A process that appends through the store under test, once, and tells the history what it was answered. */
async function append(world: World, name: string, ops: readonly Op[], settings: StoreSettings = {}): Promise<void> {
  await push(world, world.store(world.process(name), { contentionRounds: 1, ...settings }), ops);
}

/** A process that reads through the store under test, page after page, and waits at no hole. */
async function read(
  world: World,
  name: string,
  pages: number,
  settings: StoreSettings = {},
  given: Given = (page) => page,
): Promise<void> {
  const store = world.store(world.process(name), { patienceMs: 0, ...settings });
  let cursor = 0n;
  for (let i = 0; i < pages; i++) {
    const start = world.history.readBegins(name, STREAM, cursor);
    const page = await store.read(STREAM, cursor, 100).catch(() => null);
    if (page === null) continue;
    const changed = given(page);
    world.history.readEnds(start, changed);
    cursor = changed.next;
  }
}

/** Stores of processes that have stored an op each, so that all but the last know an old counter; and one that has read them. */
const afterOneOpEach =
  (writers: number) =>
  async (world: World): Promise<readonly OpStore[]> => {
    const stores: OpStore[] = [];
    for (let i = 0; i < writers; i++) {
      const store = world.store(world.process(`writer ${i + 1}`), { contentionRounds: 1 });
      const ops = someOps(`first${i}.`, 1);
      world.history.answered(STREAM, ops, await store.append(STREAM, ops));
      stores.push(store);
    }
    return stores;
  };

async function push(world: World, store: OpStore, ops: readonly Op[]): Promise<void> {
  const outcomes = await store.append(STREAM, ops).catch(() => null);
  if (outcomes !== null) world.history.answered(STREAM, ops, outcomes);
}

/** How a page is changed on its way to the reader: only mutants do. */
type Given = (page: ReadPage) => ReadPage;

type Parts = Omit<SmallCase, 'name' | 'strength'>;

const inEach = (name: string, parts: Parts, which: readonly Strength[] = strengths): SmallCase[] =>
  which.map((strength) => ({ name: `${name}-${strength}`, strength, ...parts }));

/** The production store in cases that are small enough to try every schedule of. */
export const smallCases: readonly SmallCase[] = [
  ...inEach('one-round', {
    about: 'a round of two ops, and a reader of two pages',
    start: (world) => {
      void append(world, 'writer', someOps('a', 2));
      void read(world, 'reader', 2);
    },
  }),
  ...inEach('torn', {
    about: 'the same, each page taken at two moments',
    liberties: { tornSeqs: 2 },
    start: (world) => {
      void append(world, 'writer', someOps('a', 2));
      void read(world, 'reader', 1);
    },
  }),
  ...inEach('two-warm-writers', {
    about: '2 writers with 2 ops each that have written before, and a reader',
    scene: afterOneOpEach(2),
    start: (world, stores) => {
      stores.forEach((store, i) => void push(world, store, someOps(`w${i}.`, 2)));
      void read(world, 'reader', 1);
    },
  }),
  ...inEach('three-warm-writers', {
    about: '3 writers with an op each that have written before',
    scene: afterOneOpEach(3),
    start: (world, stores) => stores.forEach((store, i) => void push(world, store, someOps(`w${i}.`, 1))),
  }),
  ...inEach('two-writers', {
    about: '2 writers with 2 ops each, and a reader',
    start: (world) => {
      void append(world, 'writer a', someOps('a', 2));
      void append(world, 'writer b', someOps('b', 2));
      void read(world, 'reader', 1);
    },
  }),
  ...inEach('three-writers', {
    about: '3 writers with an op each',
    start: (world) => {
      for (const name of ['a', 'b', 'c']) void append(world, `writer ${name}`, someOps(name, 1));
    },
  }),
  ...inEach('shared-id', {
    about: '2 writers with the same op',
    liberties: { slowClaims: true },
    start: (world) => {
      for (const name of ['a', 'b']) void append(world, `writer ${name}`, someOps('a', 1));
    },
  }),
  ...inEach('lost-answer', {
    about: 'an answer is lost, or a round arrives after it was given up; a reader',
    liberties: { lostAnswers: 1, lateRequests: 1 },
    start: (world) => {
      void append(world, 'writer a', someOps('a', 2), { contentionRounds: 2 });
      void read(world, 'reader', 1);
    },
  }),
  ...inEach('no-counter', {
    about: 'op 2 stands there without a counter; a late round; a reader that passes legacy holes',
    liberties: { lateRequests: 1 },
    promises: { dense: false },
    start: (world) => {
      world.before(STREAM, [2n]);
      world.history.begin();
      void append(world, 'writer', someOps('a', 1), { contentionRounds: 2 });
      void read(world, 'reader', 2, { legacyHoles: 'pass' });
    },
  }),
  ...inEach('burned', {
    about: 'seqs 1 and 3 are burned; a writer, and two readers',
    promises: { dense: false },
    start: (world) => {
      world.before(STREAM, [2n], 3n);
      world.history.begin();
      void append(world, 'writer', someOps('a', 2));
      void read(world, 'reader 1', 1);
      void read(world, 'reader 2', 1);
    },
  }),
  ...inEach('counter-lost', {
    about: 'the counter is lost under a writer; ops 1 and 2 are gone',
    promises: { dense: false },
    start: (world) => {
      world.before(STREAM, [3n], 3n);
      world.history.begin();
      void loseCounterBetweenAppends(world);
    },
  }),
];

async function loseCounterBetweenAppends(world: World): Promise<void> {
  const store = world.store(world.process('writer'), { contentionRounds: 2 });
  const push = async (prefix: string): Promise<void> => {
    const ops = someOps(prefix, 1);
    const outcomes = await store.append(STREAM, ops).catch(() => null);
    if (outcomes !== null) world.history.answered(STREAM, ops, outcomes);
  };
  await push('a');
  const start = world.history.readBegins('reader', STREAM, 2n);
  const reader = world.store(world.process('reader'));
  world.history.readEnds(start, await reader.read(STREAM, 2n, 100));
  world.loseCounter(STREAM);
  await push('b');
}

/** A round of two ops, and a reader that is a mutant of its own. */
const readerCase = (name: string, about: string, reader: (world: World) => Promise<void>): SmallCase => ({
  name,
  about,
  strength: 'impl',
  start: (world) => {
    void append(world, 'writer', someOps('a', 2));
    void reader(world);
  },
});

/** Takes what the page shows first for the op after its cursor. */
export const firstItemReader = readerCase(
  'first-item-reader',
  "contiguity from the page's first item",
  async (world) => {
    const start = world.history.readBegins('reader', STREAM, 0n);
    const [first] = await new RawTable(world.client(world.process('peek')), STREAM).above(0n);
    const after = (first?.seq ?? 1n) - 1n;
    const page = await world.store(world.process('reader'), { patienceMs: 0 }).read(STREAM, after, 100);
    world.history.readEnds(start, page);
  },
);

/** Where its page ends it has passed one op more. */
export const longPageReader = readerCase('long-page-reader', 'the cursor one behind the page', (world) =>
  read(world, 'reader', 2, {}, ({ ops, next }) => ({ ops, next: next + 1n })),
);

export function smallCase(name: string): SmallCase {
  const found = smallCases.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no small case ${name}`);
  return found;
}
