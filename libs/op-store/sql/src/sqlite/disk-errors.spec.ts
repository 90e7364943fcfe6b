import { spawnSync } from 'node:child_process';
import { readAll } from '@tidemark/libs-op-store-contract/testing';
import { linesOf, startNode } from '../spec-processes.ts';
import { Scratch } from './scratch.ts';
import { sharedFile } from './spec-store.ts';

jest.setTimeout(120_000);

let scratch: Scratch;
beforeEach(async () => {
  scratch = new Scratch();
  // The tables are there before: what fails is counted from the first write on.
  await (await scratch.open()).close();
});
afterEach(() => scratch.remove());

/** Appends one by one, and says of each what it was answered; a read follows each refusal. */
const APPEND = `
  let ended = false;
  stores.failed.catch(({ code }) => { ended = true; say('ended', code); });
  for (let i = 0; i < 8 && !ended; i++) {
    try {
      const [{ kind, seq }] = await stores.opStore.append('s', [anOp({ opId: 'op-' + i })]);
      say(kind, seq);
    } catch ({ code, outcome }) {
      say(code, outcome, 'head', await stores.opStore.head('s'));
    }
  }
  await stores.close();
  say('closed');`;

/** What the process says when those fsyncs of its writing thread fail. */
async function withFailing(fsyncs: string): Promise<string[] | null> {
  if (spawnSync('strace', ['-V']).status !== 0) return null;
  const inject = ['-e', 'trace=fsync,fdatasync', '-e', `inject=fsync,fdatasync:error=EIO:when=${fsyncs}`];
  const child = startNode(sharedFile(scratch), APPEND, 'a', ['strace', '-f', '-qq', '-o', '/dev/null', ...inject]);
  return (await linesOf(child)).map((words) => words.join(' '));
}

/** Outside Linux, or where no process may be traced. */
const skip = () => console.warn('skipped: no strace to make an fsync fail with');

// The first write syncs the log's folder, the new log's header and the frames; then each syncs its frames.
it('RLY-6, OPS-6: an append whose fsync fails is unknown and not counted, and writes go on when the log was emptied', async () => {
  const said = await withFailing('5');
  if (said === null) return skip();
  const first = said.findIndex((line) => !line.startsWith('stored'));
  expect(said[first]).toBe(`unknown_outcome unknown head ${first}`);
  expect(said.filter((line) => line.startsWith('stored'))).toEqual(
    Array.from({ length: 7 }, (_, i) => `stored ${i + 1}`),
  );
  const { opStore } = await scratch.open();
  const ids = (await readAll(opStore, 's', 10)).map(({ op }) => op.opId);
  expect(ids).toEqual(Array.from({ length: 8 }, (_, i) => `op-${i}`).filter((_, i) => i !== first));
});

it('RLY-6, OPS-6: the second failed fsync ends the writing, is told to the process, and reads go on', async () => {
  const said = await withFailing('5..6');
  if (said === null) return skip();
  const first = said.findIndex((line) => !line.startsWith('stored'));
  expect(said.slice(first)).toEqual([
    `unknown_outcome unknown head ${first}`,
    'ended unavailable',
    `unavailable not-done head ${first}`,
    'closed',
  ]);
});
