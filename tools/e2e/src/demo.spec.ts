import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { sharedData } from '@tidemark/libs-kernel/testing';
import { type Ended, Launcher, type Site, newSite } from './launcher.ts';
import { foldOf, pullAll, readViews } from './whole-path.ts';

jest.setTimeout(120_000);

let site: Site;
const launchers: Launcher[] = [];

beforeEach(async () => {
  site = await newSite();
});

afterEach(async () => {
  for (const launcher of launchers.splice(0)) await launcher.destroy(site);
  site.remove();
});

function start(...args: string[]): Launcher {
  const launcher = new Launcher(site, args);
  launchers.push(launcher);
  return launcher;
}

const counts = ({ stdout }: Ended) =>
  Object.fromEntries(
    [...stdout.matchAll(/^(accepted|duplicates|failed|folded) +(\d+)$/gm)].map(([, name, n]) => [name, Number(n)]),
  );

/** Starts the services alone, looks at log and views, stops them. */
async function lookAt(site: Site, stream = '0.events') {
  const launcher = start();
  await launcher.says(/Try:/);
  const ops = await pullAll(site, stream);
  const views = await readViews(site, stream, 'events');
  launcher.signal('SIGTERM');
  await launcher.ended;
  return { ops, views };
}

const webhooks = sharedData('github-webhooks.ndjson');
const withWebhooks = webhooks === null ? test.skip : test;

withWebhooks(
  'the demo takes 255 webhooks once: a second run finds only duplicates, and the view is the fold of the log',
  async () => {
    const first = await start('--demo', webhooks ?? '').ended;
    expect(first.stderr).toBe('');
    expect(first.code).toBe(0);
    expect(counts(first)).toEqual({ accepted: 255, duplicates: 0, failed: 0, folded: 255 });
    expect(first.stdout).toMatch(/one folded document of 0\.events:\n\{"stream":"0\.events"/);
    const second = await start('--demo', webhooks ?? '').ended;
    expect(counts(second)).toEqual({ accepted: 0, duplicates: 255, failed: 0, folded: 0 });
    expect(second.code).toBe(0);
    const { ops, views } = await lookAt(site);
    expect(ops).toHaveLength(255);
    expect(new Set(ops.map(({ opId }) => opId)).size).toBe(255);
    expect(new Map([...views].map(([id, { fields }]) => [id, fields.body]))).toEqual(foldOf(ops));
  },
);

test('without a file the demo posts a sample of its own', async () => {
  expect(counts(await start('--demo').ended)).toEqual({ accepted: 1000, duplicates: 0, failed: 0, folded: 1000 });
});

test('ING-11: a truncated line fails alone and is named; the others are taken, also the one without id', async () => {
  const file = path.join(site.folder, 'mixed.ndjson');
  writeFileSync(
    file,
    '{"event_id":"a","n":1}\n{"event_id":"b",\r\n\n{"n":3}\n{"event_id":"c","n":9007199254740993}\n{"event_id":"d"',
  );
  const ended = await start('--demo', file).ended;
  expect(counts(ended)).toEqual({ accepted: 3, duplicates: 0, failed: 2, folded: 3 });
  expect(ended.stdout).toMatch(/record 2: invalid json/);
  expect(ended.stdout).toMatch(/record 5: invalid json/);
  const { ops } = await lookAt(site);
  expect(ops.map(({ value }) => value)).toEqual([
    '{"event_id":"a","n":1}',
    '{"n":3}',
    '{"event_id":"c","n":9007199254740993}',
  ]);
});
