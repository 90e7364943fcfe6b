import type { OpStore } from '@tidemark/libs-op-store-contract';
import { anOp, MemoryOpStore } from '@tidemark/libs-op-store-contract/testing';
import fc from 'fast-check';
import { sqliteOpStore } from './op-store.ts';
import { openToWrite } from './open-to-write.ts';
import { Scratch } from './scratch.ts';

// Every commit is synced; a busy disk takes its time.
jest.setTimeout(60_000);

const stream = fc.constantFrom('a', 'b', 'é/\u{10000}', 'é/\uffee');
const op = fc
  .record({ opId: fc.constantFrom(...'0123456789'), value: fc.option(fc.string({ unit: 'grapheme' }), { nil: null }) })
  .map(anOp);

/** A call with its arguments, in a namespace of its own per run. */
type Call = (store: OpStore, run: number) => Promise<unknown>;

const call: fc.Arbitrary<Call> = fc.oneof(
  fc.tuple(stream, fc.array(op, { maxLength: 6 })).map(
    ([name, ops]): Call =>
      (store, run) =>
        store.append(`${run} ${name}`, ops),
  ),
  fc.tuple(stream, fc.bigInt({ min: -2n, max: 12n }), fc.nat({ max: 12 }), fc.nat({ max: 3000 })).map(
    ([name, after, limit, bytesMax]): Call =>
      (store, run) =>
        store.read(`${run} ${name}`, after, limit, bytesMax),
  ),
  fc.tuple(fc.option(stream, { nil: null }), fc.nat({ max: 6 })).map(
    ([name, limit]): Call =>
      (store, run) =>
        store.streams(name === null ? null : `${run} ${name}`, limit),
  ),
  stream.map(
    (name): Call =>
      (store, run) =>
        store.head(`${run} ${name}`),
  ),
);

it('RLY-3, RLY-4, RLY-5: every sequence of calls is answered as the memory model answers it', async () => {
  const scratch = new Scratch();
  const connection = await scratch.connect(0, () => {
    const handle = openToWrite(scratch.file);
    // What is compared here does not depend on syncs, and they would take most of the time.
    handle.pragma('synchronous = OFF');
    return handle;
  });
  const [ours, model] = [sqliteOpStore(connection, scratch.time), new MemoryOpStore()];
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 30 }), async (calls) => {
      run++;
      for (const answerOf of calls) expect(await answerOf(ours, run)).toEqual(await answerOf(model, run));
    }),
    { numRuns: 150 },
  );
  await connection.close();
  await scratch.remove();
});
