import { Fault } from '@tidemark/libs-kernel';
import { ManualTime } from '@tidemark/libs-kernel/testing';
import type { Command, Outcome, Writer, Written } from './command.ts';
import { JoinedWrites } from './joined-writes.ts';

/** A writer that answers when the test says so. */
class HeldWriter implements Writer {
  readonly failed = new Promise<never>(() => {});
  readonly batches: (readonly Command[])[] = [];
  #answer: PromiseWithResolvers<Written> = Promise.withResolvers();

  write(batch: readonly Command[]): Promise<Written> {
    this.batches.push(batch);
    this.#answer = Promise.withResolvers();
    return this.#answer.promise;
  }

  async close(): Promise<void> {}

  answer(fatal: Written['fatal'] = null, outcomeOf = answeredByPrefix): void {
    const batch = this.batches.at(-1) ?? [];
    this.#answer.resolve({ outcomes: batch.map(outcomeOf), fatal });
  }

  end(fault: Fault): void {
    this.#answer.reject(fault);
  }
}

const claim = (prefix: string): Command => ({ kind: 'claim', stream: 's', prefix, replicaUuid: prefix });
const answeredByPrefix = (command: Command): Outcome => ({
  kind: 'done',
  answer: command.kind === 'claim' ? command.prefix : null,
});

let writer: HeldWriter;
let writes: JoinedWrites;
beforeEach(() => {
  writer = new HeldWriter();
  writes = new JoinedWrites({ file: 'ops.sqlite', writer, sleeper: new ManualTime() });
});

const run = (prefix: string, rows = 1, units = 0) => writes.run(claim(prefix), { rows, units });
const batches = () => writer.batches.map((batch) => batch.map((command) => (command as { prefix: string }).prefix));

/** Lets everything that can go on do so: nothing here waits for anything but promises. */
async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

it('RLY-6: calls of one turn are one batch, and those that come while it is written are the next one, in their order', async () => {
  const answers = ['a', 'b'].map((prefix) => run(prefix));
  await settled();
  answers.push(run('c'), run('d'));
  await settled();
  expect(batches()).toEqual([['a', 'b']]);
  writer.answer();
  await settled();
  expect(batches()).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
  writer.answer();
  expect(await Promise.all(answers)).toEqual(['a', 'b', 'c', 'd']);
});

// kills: joined-writes.ts: rows > WEIGHT_MAX.rows => rows > 2 * WEIGHT_MAX.rows
it('OPS-4: a batch takes ten thousand rows, and at least one call', async () => {
  for (const [prefix, rows] of [
    ['a', 6000],
    ['b', 4000],
    ['c', 1],
    ['d', 20_000],
    ['e', 1],
  ] as const)
    void run(prefix, rows);
  for (let i = 0; i < 4; i++) {
    await settled();
    writer.answer();
  }
  expect(batches()).toEqual([['a', 'b'], ['c'], ['d'], ['e']]);
});

// kills: joined-writes.ts: units > WEIGHT_MAX.units => units > 2 * WEIGHT_MAX.units
it('OPS-4: a batch takes 16 Mi units of text', async () => {
  for (const prefix of ['a', 'b', 'c']) void run(prefix, 1, 8 * 1024 * 1024);
  await settled();
  writer.answer();
  await settled();
  expect(batches()).toEqual([['a', 'b'], ['c']]);
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

it('OPS-6: a writer that ends leaves its batch unknown, and goes on refusing', async () => {
  const call = expect(run('a')).rejects.toMatchObject({ code: 'unknown_outcome', outcome: 'unknown' });
  await settled();
  writer.end(new Fault('unknown_outcome', 'ended'));
  await call;
  const next = expect(run('b')).rejects.toMatchObject({ code: 'unavailable' });
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
  for (let i = 0; i < 2; i++) {
    await settled();
    writer.answer();
  }
  await closed;
  expect(await calls).toEqual(['a', 'b']);
});
