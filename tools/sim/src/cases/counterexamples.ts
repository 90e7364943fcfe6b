import { SmallReader, type HoleRule } from '../actors/small-reader.ts';
import { SmallWriter, type WriterRule } from '../actors/small-writer.ts';
import type { Strength } from '../dynamo/weather.ts';
import { someOps } from '../some-op.ts';
import type { World } from '../world.ts';
import { RawTable, counterOf } from '../actors/raw.ts';
import { STREAM, type SmallCase } from './small-case.ts';

/** A rule that breaks, and the same case with the rule that holds. */
export interface Counterexample {
  readonly id: string;
  readonly wrong: SmallCase;
  readonly right: SmallCase;
}

/** One writer with one round of two ops, and one reader: the smallest case in which a page has a hole. */
const oneRound =
  (rule: HoleRule, reads = 1) =>
  (world: World): void => {
    void new SmallWriter(world, 'writer', STREAM).push(someOps('a', 2));
    void new SmallReader(world, 'reader', STREAM, rule).read(reads);
  };

/** One writer with two rounds of one op each, and one reader. */
const twoSingles =
  (rule: HoleRule) =>
  (world: World): void => {
    void new SmallWriter(world, 'writer', STREAM, { opsPerRound: 1 }).push(someOps('a', 2));
    void new SmallReader(world, 'reader', STREAM, rule).read();
  };

/** Op 2 stands there without a counter; a writer, and a reader that judges the hole at 1. */
const lostCounter =
  (floor: WriterRule['floor'], opsPerRound = 1) =>
  (world: World): void => {
    world.before(STREAM, [2n]);
    world.history.begin();
    void new SmallWriter(world, 'writer', STREAM, { floor, opsPerRound }).push(someOps('a', 1));
    void new SmallReader(world, 'reader', STREAM, 'witness').read(2);
  };

/** The counter is lost under a live writer that has floored once; ops 1 and 2 were truncated. */
const lostUnderLiveWriter =
  (floor: WriterRule['floor']) =>
  (world: World): void => {
    world.before(STREAM, [3n], 3n);
    world.history.begin();
    const writer = new SmallWriter(world, 'writer', STREAM, { floor, opsPerRound: 1 });
    const reader = new SmallReader(world, 'reader', STREAM, 'plain');
    void (async () => {
      await writer.push(someOps('a', 1));
      await reader.read();
      world.loseCounter(STREAM);
      await writer.push(someOps('b', 1));
    })();
  };

/** Op 2 without a counter; the first round of the writer meets a conflict with a round of another one. */
const lostFirstRound =
  (floor: WriterRule['floor']) =>
  (world: World): void => {
    world.before(STREAM, [2n]);
    world.history.begin();
    void new SmallWriter(world, 'writer', STREAM, { floor, opsPerRound: 1 }).push(someOps('a', 1));
    void new SmallReader(world, 'reader', STREAM, 'witness').read(2);
  };

/** A sweep that finds nothing above its mark and takes the counter for the new one; or asks for both at once. */
const sweep =
  (how: 'query' | 'snapshot') =>
  (world: World): void => {
    void new SmallWriter(world, 'writer', STREAM, { opsPerRound: 1 }).push(someOps('a', 1));
    const table = new RawTable(world.client(world.process('sweep')), STREAM);
    void (async () => {
      const start = world.history.readBegins('sweep', STREAM, 0n);
      const counter = await table.counter();
      if (counter === 0n || (await table.above(0n)).length > 0) return;
      const seen = how === 'query' ? [{ next_seq: { N: String(counter) } }] : await table.snapshot([0n, 1n]);
      if (seen === null || seen[1] !== undefined) return;
      world.history.readEnds(start, { ops: [], next: counterOf(seen[0]) });
    })();
  };

/** A round of two ops and one of one op on it; a fold that looks at the hole once the record of op 3 has come. */
const foldAfterRecord =
  (rule: HoleRule) =>
  (world: World): void => {
    const second = new SmallWriter(world, 'writer b', STREAM, { opsPerRound: 1 });
    const fold = new SmallReader(world, 'fold', STREAM, rule);
    void new SmallWriter(world, 'writer a', STREAM).push(someOps('a', 2));
    void second.push(someOps('b', 1)).then((answered) => (answered ? fold.read() : undefined));
  };

/** The same with a reader that begins once the second push was answered. */
const readAfterAnswer =
  (opsPerRound: number) =>
  (world: World): void => {
    const reader = new SmallReader(world, 'reader', STREAM, 'witness');
    void new SmallWriter(world, 'writer a', STREAM, { opsPerRound }).push(someOps('a', 2));
    const second = new SmallWriter(world, 'writer b', STREAM, { opsPerRound: 1 });
    void second.push(someOps('b', 1)).then((answered) => (answered ? reader.read() : undefined));
  };

/** Two writers with the same two ops; a reader that begins once the second writer was answered. */
const readAfterExisting =
  (existing: WriterRule['existing']) =>
  (world: World): void => {
    const reader = new SmallReader(world, 'reader', STREAM, 'witness');
    void new SmallWriter(world, 'writer a', STREAM).push(someOps('a', 2));
    const second = new SmallWriter(world, 'writer b', STREAM, { existing, opsPerRound: 1 });
    void second.push(someOps('a', 1)).then((answered) => (answered ? reader.read() : undefined));
  };

type Parts = Pick<SmallCase, 'about' | 'start'> & Partial<SmallCase>;

function counterexample(id: string, strength: Strength, wrong: Parts, right: Parts): Counterexample {
  return {
    id,
    wrong: { name: `${id}-wrong`, strength, ...wrong },
    right: { name: `${id}-right`, strength, ...right },
  };
}

const witness: Parts = { about: 'a snapshot that holds the op above the hole', start: oneRound('witness', 2) };

/** The shortest ways in which rules that look sound break, found by model checking; each as a case of this simulator. */
export const counterexamples: readonly Counterexample[] = [
  counterexample(
    'C1',
    'brief',
    { about: 'a counter below the hole taken for a lost one', start: oneRound('snapshot-without-witness') },
    witness,
  ),
  counterexample(
    'C2',
    'weak',
    { about: 'the same before all of the round is visible', start: oneRound('snapshot-without-witness') },
    witness,
  ),
  counterexample('C3', 'impl', { about: 'a plain reader beside rounds of two', start: oneRound('plain') }, witness),
  counterexample('C3-get', 'impl', { about: 'a hole judged by GetItem alone', start: oneRound('get') }, witness),
  counterexample('C4', 'impl', { about: 'GetItem, then the counter', start: oneRound('get-then-counter') }, witness),
  counterexample('C5', 'impl', { about: 'the counter, then GetItem', start: oneRound('counter-then-get') }, witness),
  counterexample(
    'alone',
    'brief',
    { about: 'a snapshot of the hole alone', start: oneRound('snapshot-alone') },
    witness,
  ),
  counterexample(
    'C6',
    'impl',
    { about: 'a plain reader whose page is torn', start: twoSingles('plain'), liberties: { tornSeqs: 2 } },
    { about: 'the same reader, a page being one instant', start: twoSingles('plain') },
  ),
  counterexample(
    'C7',
    'impl',
    {
      about: 'a writer that believes a counter behind the ops',
      start: lostCounter('never'),
      promises: { dense: false },
    },
    { about: 'a writer that looks at the newest op', start: lostCounter('every round'), promises: { dense: false } },
  ),
  counterexample(
    'C8',
    'impl',
    {
      about: 'the counter lost under a writer that floors once',
      start: lostUnderLiveWriter('first round'),
      promises: { dense: false },
    },
    { about: 'a writer that floors again', start: lostUnderLiveWriter('every round'), promises: { dense: false } },
  ),
  counterexample(
    'C9',
    'impl',
    { about: 'the counter taken for the end because nothing is visible', start: sweep('query') },
    { about: 'counter and seqs in one snapshot', start: sweep('snapshot') },
  ),
  counterexample(
    'C10',
    'impl',
    { about: 'GetItem after the record of a later op', start: foldAfterRecord('get') },
    { about: 'a snapshot after it', start: foldAfterRecord('witness') },
  ),
  counterexample(
    'C11',
    'impl',
    { about: 'an answered op behind a round of two', start: readAfterAnswer(2), promises: { readableAtOnce: true } },
    { about: 'rounds of one with the check', start: readAfterAnswer(1), promises: { readableAtOnce: true } },
  ),
  counterexample(
    'C12',
    'impl',
    {
      about: 'an old op answered from its claim',
      start: readAfterExisting('from the claim'),
      promises: { readableAtOnce: true },
      liberties: { slowClaims: true },
    },
    {
      about: 'answered once it can be read',
      start: readAfterExisting('once visible'),
      promises: { readableAtOnce: true },
      liberties: { slowClaims: true },
    },
  ),
  counterexample(
    'C13',
    'impl',
    {
      about: 'the floor forgotten after a round that was not answered',
      start: lostFirstRound('first round'),
      promises: { dense: false },
      liberties: { lateRequests: 1 },
    },
    {
      about: 'floored again',
      start: lostFirstRound('every round'),
      promises: { dense: false },
      liberties: { lateRequests: 1 },
    },
  ),
];
