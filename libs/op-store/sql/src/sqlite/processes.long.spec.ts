import { Answered, killWriters, writeBeside } from '../spec-processes.ts';
import { Scratch } from './scratch.ts';
import { sharedFile } from './spec-store.ts';

jest.setTimeout(1_800_000);

let scratch: Scratch;
beforeEach(() => (scratch = new Scratch()));
afterEach(() => scratch.remove());

it('RLY-6, RLY-18, R38: 200 times killed beside another process that writes, a process loses no op that it answered', async () => {
  const [answered, beside] = [new Answered(), new Answered()];
  const other = writeBeside(sharedFile(scratch), beside);
  await killWriters(sharedFile(scratch), 200, answered);
  await other.stop();
  expect(beside.count).toBeGreaterThan(1000);
  await beside.verify(sharedFile(scratch));
});
