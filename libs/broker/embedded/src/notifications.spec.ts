import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManualTime, SeededRandom } from '@tidemark/libs-kernel/testing';
import { Notifications } from './notifications.ts';

let folder: string;
let opened: Notifications[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tidemark-notify-'));
  opened = [];
});
afterEach(async () => {
  for (const one of opened) await one.close();
  rmSync(folder, { recursive: true, force: true });
});

function open(at = folder): Notifications {
  const one = new Notifications({
    folder: at,
    sleeper: new ManualTime(),
    random: new SeededRandom(100 + opened.length),
  });
  opened.push(one);
  return one;
}

/** Resolves with what was heard up to the given detail. */
async function hear(notifications: Notifications, last: string): Promise<{ heard: Promise<string[]> }> {
  const heard: string[] = [];
  let end: (heard: string[]) => void;
  const all = new Promise<string[]>((resolve) => (end = resolve));
  await notifications.onNotify('t', (detail) => {
    heard.push(detail);
    if (detail === last) end(heard);
  });
  return { heard: all };
}

const sockets = (at = folder) => readdirSync(join(at, 'notify'));

test('RLY-14: the socket of a process that was killed is removed by the first that finds it dead', async () => {
  mkdirSync(join(folder, 'notify'));
  const script = `require('node:net').createServer().listen(${JSON.stringify(join(folder, 'notify', 'dead.sock'))}, () => console.log('up'))`;
  const killed = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(killed.stdout, 'data');
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  const { heard } = await hear(open(), 'b');
  const teller = open();
  teller.notify('t', 'a');
  teller.notify('t', 'b');
  expect(await heard).toEqual(['a', 'b']);
  while (sockets().includes('dead.sock')) await new Promise(setImmediate);
  expect(sockets()).toHaveLength(1);
});

test('RLY-14: a folder whose path is too long for a socket address is reached all the same', async () => {
  const deep = join(folder, 'x'.repeat(120));
  const { heard } = await hear(open(deep), 'a');
  open(deep).notify('t', 'a');
  expect(await heard).toEqual(['a']);
  for (const one of opened) await one.close();
  expect(sockets(deep)).toEqual([]);
});

test('RLY-14: where no socket can be made nothing can be heard, and who listens is told so', async () => {
  writeFileSync(join(folder, 'notify'), 'a file in the place of the folder');
  await expect(open().onNotify('t', () => {})).rejects.toMatchObject({ code: 'unavailable' });
  open().notify('t', 'lost');
});

test('OPS-4: of more than a listener takes in one turn the rest is lost, and what comes later is heard', async () => {
  const { heard } = await hear(open(), 'last');
  const teller = open();
  for (let n = 0; n < 300; n++) teller.notify('t', `${n} `.padEnd(10_000, '.'));
  await new Promise(setImmediate);
  teller.notify('t', 'last');
  const lengths = (await heard).length;
  expect(lengths).toBeGreaterThan(100);
  expect(lengths).toBeLessThan(110);
});

test('OPS-4: somebody who writes what no relay says, or no line at all, is cut off', async () => {
  await hear(open(), '');
  const [name] = sockets();
  for (const garbage of ['hello\n', '["t"]\n', 'x'.repeat(200_000)]) {
    const socket = connect(join(folder, 'notify', name!));
    socket.on('error', () => {});
    socket.write(garbage);
    await new Promise((resolve) => socket.on('close', resolve));
  }
});
