import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { serverTests } from '@tidemark/tools-services/testing';
import { EventReader } from './event-reader.ts';
import { RelayProcess } from './relay-process.ts';
import { buildServices } from './service-process.ts';
import { LATE_POLLS, expectResumes, expectWakes, metric, names, push } from './relay-tails.ts';

jest.setTimeout(240_000);

const onPostgres = serverTests('postgres');
let folder: string;
let a: RelayProcess;
let b: RelayProcess;

const start = (env: NodeJS.ProcessEnv = {}) =>
  RelayProcess.start({
    TIDEMARK_DATA: folder,
    TIDEMARK_LOG_LEVEL: 'info',
    TIDEMARK_DRAIN_SECS: '3600',
    RELAY_TAIL_SLOW_SECS: '1',
    ...LATE_POLLS,
    ...env,
  });

// One pair for all tests, which leave it running; each has a stream of its own.
beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'tidemark-tail-'));
  await buildServices('relay');
  [a, b] = await Promise.all([start(), start()]);
});
afterAll(async () => {
  await Promise.all([a.stop(), b.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

test('RLY-14: an append of one relay wakes the readers of another on the same SQLite file, told by the broker', () =>
  expectWakes(a, b, 'broker'));

onPostgres(
  'RLY-14: an append of one relay wakes the readers of another on the same Postgres database, told by LISTEN',
  async ({ endpoint }) => {
    const env = { RELAY_STORE: 'postgres', DATABASE_URL: endpoint };
    const [writer, reading] = await Promise.all([start(env), start(env)]);
    try {
      await expectWakes(writer, reading, 'store');
    } finally {
      await Promise.all([writer.stop(), reading.stop()]);
    }
  },
  240_000,
);

test('OPS-4: a reader of events that takes nothing is cut off, and resumes with nothing lost or doubled', async () => {
  const OPS = 30;
  const events = await EventReader.open(b.url, 'slow');
  events.pause();
  // More than the kernel's buffers hold.
  for (const opId of names(OPS)) await push(b, 'slow', { opId, value: 'x'.repeat(1_000_000) });
  while ((await metric(b, 'tidemark_tail_dropped_total\\{.*\\}')) === 0);
  events.resume();
  await events.untilEnded();
  expect(events.ids.length).toBeLessThan(OPS);
  const resumed = await EventReader.open(b.url, 'slow', events.lastEventId);
  await resumed.until(OPS - events.ids.length);
  resumed.close();
  expect([...events.ids, ...resumed.ids]).toEqual(names(OPS));
});

test('RLY-14: after kill -9 in the middle of a stream of events its reader resumes with nothing lost or doubled', () =>
  expectResumes(a, 2, async (killed) => {
    if (killed === undefined) return b;
    await killed.exited;
    return (b = await start());
  }));

test('OPS-3: a relay that is told to stop answers 100 readers that wait, and exits', async () => {
  const events = await Promise.all(Array.from({ length: 50 }, () => EventReader.open(b.url, 's')));
  const polls = Array.from({ length: 50 }, () => fetch(`${b.url}/streams/s/ops?wait=55`));
  while ((await metric(b, 'tidemark_tail_readers\\{.*\\}')) < 100);
  b.kill('SIGTERM');
  const pages = await Promise.all(polls.map(async (polled) => (await polled).text()));
  expect(pages).toEqual(polls.map(() => '{"ops":[],"next":0}'));
  for (const one of events) await one.untilEnded();
  await b.exited;
});
