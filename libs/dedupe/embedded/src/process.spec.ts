import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { SpecFolder, statuses, windowOf } from './spec-store.ts';

type Child = ChildProcessByStdio<null, Readable, null>;

const LEASE_MS = 30_000;
const CHILD = join(__dirname, 'commit-loop.spec-child.ts');

// Real processes and real fsyncs: slow on a busy machine.
jest.setTimeout(60_000);

let folder: SpecFolder;
beforeEach(async () => (folder = await SpecFolder.make()));
afterEach(() => folder.end());

test('DDP-3: after kill -9 every acknowledged commit is a duplicate', async () => {
  await everyOneIsDuplicate(await killAfterAcks(spawnChild(), 200));
});

test('I4: after kill -9 the claims of the process are free at once', async () => {
  const lines: string[] = [];
  await killAfterAcks(spawnChild(), 1, (line) => lines.push(line));
  expect(lines).toEqual(['claimed']);
  const store = await folder.open();
  expect(new Set(statuses(await store.reserve(windowOf(-1), LEASE_MS)))).toEqual(new Set(['claimed']));
});

test('DDP-3: commits acknowledged after the disk was full survive kill -9 too', async () => {
  // A limit on file sizes, off LevelDB's 32 KiB blocks, stands for the full disk: an append stops inside a record. Then it is lifted.
  const child = spawnChild('ulimit -S -f 499;');
  const faults: string[] = [];
  const acked = await killAfterAcks(child, 600, (line) => {
    if (line.startsWith('fault') && faults.push(line) === 1)
      spawnSync('prlimit', ['--pid', `${child.pid}`, '--fsize=unlimited:']);
  });
  expect(faults[0]).toContain('fault disk_full');
  await everyOneIsDuplicate(acked);
});

test('DDP-2: a second process is refused in one line that names the folder', async () => {
  await folder.open();
  const lines: string[] = [];
  for await (const line of linesOf(spawnChild())) lines.push(line);
  expect(lines).toEqual([
    `fault misconfigured dedupe store ${folder.path}: open in another process; give each process a folder of its own`,
  ]);
});

function spawnChild(shellFirst = ''): Child {
  const command = [process.execPath, CHILD, folder.path];
  return spawn('sh', ['-c', `${shellFirst} exec "$@"`, 'sh', ...command], { stdio: ['ignore', 'pipe', 'inherit'] });
}

/** The windows that the process acknowledged before it was killed. */
async function killAfterAcks(child: Child, acks: number, onOther = (_line: string) => {}): Promise<number[]> {
  const acked: number[] = [];
  const gone = once(child, 'exit');
  for await (const line of linesOf(child)) {
    const n = /^acked (\d+)$/.exec(line)?.[1];
    if (n === undefined) onOther(line);
    else if (acked.push(Number(n)) === acks) child.kill('SIGKILL');
  }
  await gone;
  return acked;
}

function linesOf(child: Child): AsyncIterable<string> {
  return createInterface({ input: child.stdout });
}

async function everyOneIsDuplicate(acked: readonly number[]): Promise<void> {
  const store = await folder.open();
  const lost: number[] = [];
  for (const n of acked) {
    const found = new Set(statuses(await store.reserve(windowOf(n), LEASE_MS)));
    if ([...found].join() !== 'duplicate') lost.push(n);
  }
  expect(lost).toEqual([]);
}
