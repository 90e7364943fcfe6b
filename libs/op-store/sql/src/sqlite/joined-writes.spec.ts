import { Fault } from '@tidemark/libs-kernel';
import { ManualTime } from '@tidemark/libs-kernel/testing';
import type { Batch, Command, Outcome, Writer, Written } from './command.ts';
import { JoinedWrites } from './joined-writes.ts';

/** A writer that answers when the test says so. */
class HeldWriter implements Writer {
  readonly failed = new Promise<never>(() => {});
  readonly batches: Batch[] = [];
  readonly #unanswered: { readonly batch: Batch; readonly answer: PromiseWithResolvers<Written> }[] = [];

  write(batch: Batch): Promise<Written> {
    const answer = Promise.withResolvers<Written>();
    this.batches.push(batch);
    this.#unanswered.push({ batch, answer });
    return answer.promise;
  }

  async close(): Promise<void> {}

  /** Of the oldest batch. */
  answer(fatal: Written['fatal'] = null, outcomeOf = answeredByPrefix): void {
    const { batch, answer } = this.#unanswered.shift()!;
    answer.resolve({ outcomes: batch.commands.map(outcomeOf), fatal });
  }

  end(fault: Fault): void {
    for (const { answer } of this.#unanswered.splice(0)) answer.reject(fault);
  }
}

const claim = (prefix: string): Command => ({ kind: 'claim', stream: 's', prefix, replicaUuid: prefix });
const answeredByPrefix = (command: Command): Outcome => ({
  kind: 'done',
  answer: command.kind === 'claim' ? command.prefix : null,
});

let writer: HeldWriter;
let writes: JoinedWrites;
let time: ManualTime;
beforeEach(() => {
  writer = new HeldWriter();
  time = new ManualTime();
  writes = new JoinedWrites({ file: 'ops.sqlite', writer, sleeper: time });
});

const run = (prefix: string, rows = 1, units = 0) => writes.run(claim(prefix), { rows, units });
const batches = () =>
  writer.batches.map(({ commands }) => commands.map((command) => (command as { prefix: string }).prefix));

/** Lets everything that can go on do so: nothing here waits for anything but promises. */
async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

it('RLY-6: calls of one turn are one batch, and those of a later turn are sent while it is written', async () => {
  const answers = ['a', 'b'].map((prefix) => run(prefix));
  await settled();
  answers.push(run('c'), run('d'));
  await settled();
  expect(batches()).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
  writer.answer();
  expect(await Promise.all(answers.slice(0, 2))).toEqual(['a', 'b']);
  writer.answer();
  expect(await Promise.all(answers)).toEqual(['a', 'b', 'c', 'd']);
});

it('OPS-4: a turn that is more than a transaction takes is several batches, each with its weight', async () => {
  for (const [prefix, rows] of [
    ['a', 6000],
    ['b', 4000],
    ['c', 1],
  ] as const)
    void run(prefix, rows, 10 * rows);
  await settled();
  expect(batches()).toEqual([['a', 'b'], ['c']]);
  expect(writer.batches.map(({ weight }) => weight)).toEqual([
    { rows: 10_000, units: 100_000 },
    { rows: 1, units: 10 },
  ]);
});

// kills: joined-writes.ts: this.#isFull = !fitsBeside(this.#sent, batch) => this.#isFull = false
// kills: joined-writes.ts: this.#isFull = false; => this.#isFull = true;
it('OPS-4: the writer has the rows of two transactions at most, and is sent more, in order, as it answers', async () => {
  for (const prefix of ['a', 'b', 'c', 'd', 'e']) void run(prefix, 6000);
  await settled();
  expect(batches()).toEqual([['a'], ['b'], ['c']]);
  void run('f');
  await settled();
  writer.answer();
  await settled();
  expect(batches().slice(3)).toEqual([['d']]);
  for (let i = 0; i < 2; i++) writer.answer();
  await settled();
  expect(batches().slice(4)).toEqual([['e', 'f']]);
});

// kills: joined-writes.ts: if (!this.#inTurn) this.#send() => this.#send()
it('RLY-6: an answer in the middle of a turn does not divide it', async () => {
  void run('a');
  await settled();
  const held = Promise.withResolvers<void>();
  time.sleep = () => held.promise;
  void run('b');
  writer.answer();
  await settled();
  void run('c');
  held.resolve();
  await settled();
  expect(batches()).toEqual([['a'], ['b', 'c']]);
});

// kills: joined-writes.ts: this.#allAnswered = false => this.#allAnswered = true
it('S7: a batch is the first while nothing else waits, here or with the writer', async () => {
  void run('a');
  await settled();
  for (const prefix of ['b', 'c', 'd']) void run(prefix, 20_000);
  await settled();
  for (let i = 0; i < 4; i++) {
    writer.answer();
    await settled();
  }
  void run('e');
  await settled();
  expect(writer.batches.map(({ first }) => first)).toEqual([true, false, false, false, true]);
});

it('OPS-6: a call that fails fails alone', async () => {
  const calls = ['a', 'bad', 'c'].map((prefix) => run(prefix));
  await settled();
  const fault = { code: 'disk_full', message: 'no space', outcome: 'not-done' } as const;
  writer.answer(null, (command) =>
    command.kind === 'claim' && command.prefix === 'bad' ? { kind: 'failed', fault } : answeredByPrefix(command),
  );
  expect(await Promise.allSettled(calls)).toMatchObject([
    { value: 'a' },
    { status: 'rejected', reason: fault },
    { value: 'c' },
  ]);
});

it('OPS-6: a writer that ends leaves what it was sent unknown, and goes on refusing', async () => {
  const isUnknown = (call: Promise<unknown>) =>
    expect(call).rejects.toMatchObject({ code: 'unknown_outcome', outcome: 'unknown' });
  const first = isUnknown(run('a'));
  await settled();
  const second = isUnknown(run('b'));
  await settled();
  writer.end(new Fault('unknown_outcome', 'ended'));
  await Promise.all([first, second]);
  const next = expect(run('c')).rejects.toMatchObject({ code: 'unavailable' });
  await settled();
  writer.end(new Fault('unavailable', 'ended'));
  await next;
});

it('RLY-6: what ends the writing for ever is told to whoever listens', async () => {
  const call = run('a');
  const failed = expect(writes.failed).rejects.toMatchObject({ code: 'unavailable', message: 'the disk' });
  await settled();
  writer.answer({ code: 'unavailable', message: 'the disk', outcome: 'not-done' });
  await Promise.all([call, failed]);
});

it('OPS-3: a close lets what waits end, and later calls are refused', async () => {
  const calls = Promise.all([run('a', 10_000), run('b')]);
  const closed = writes.close();
  await expect(run('c')).rejects.toMatchObject({ code: 'unavailable', outcome: 'not-done' });
  await settled();
  writer.answer();
  let ended = false;
  void closed.then(() => (ended = true));
  await settled();
  expect(ended).toBe(false);
  writer.answer();
  await closed;
  expect(await calls).toEqual(['a', 'b']);
});
