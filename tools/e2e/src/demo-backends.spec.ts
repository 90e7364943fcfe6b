import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { serverTests } from '@tidemark/tools-services/testing';
import { dynamodbFoldEnv } from './fold-tables.ts';
import { Launcher, type Site, newSite } from './launcher.ts';

const MS_MAX = 180_000;
jest.setTimeout(MS_MAX);

const EVENTS = 300;
let site: Site;
let launcher: Launcher | undefined;

beforeEach(async () => {
  site = await newSite();
});
afterEach(async () => {
  await launcher?.destroy(site);
  site.remove();
});

/** Runs `npm start -- --demo` with these settings on events of which each third comes twice; answers what it counted. */
async function demo(settings: Record<string, string>): Promise<Record<string, number>> {
  const file = path.join(site.folder, 'events.ndjson');
  const lines = Array.from({ length: EVENTS }, (_, n) => JSON.stringify({ event_id: `e-${n}`, n }));
  writeFileSync(file, [...lines, ...lines.filter((_, n) => n % 3 === 0)].join('\n'));
  launcher = new Launcher({ ...site, env: { ...site.env, ...settings } }, ['--demo', file]);
  const { stdout, stderr, code } = await launcher.ended;
  expect([stderr, code]).toEqual(['', 0]);
  const counts = stdout.matchAll(/^(accepted|duplicates|failed|folded) +(\d+)$/gm);
  return Object.fromEntries([...counts].map(([, name, n]) => [name, Number(n)]));
}

const ONCE = { accepted: EVENTS, duplicates: EVENTS / 3, failed: 0, folded: EVENTS };

serverTests('postgres')(
  'FLD-1, FLD-8: the demo runs with log and views in Postgres',
  async ({ endpoint }) => {
    const settings = { RELAY_STORE: 'postgres', FOLD_OP_STORE: 'postgres', FOLD_VIEWS: 'postgres' };
    expect(await demo({ ...settings, DATABASE_URL: endpoint })).toEqual(ONCE);
  },
  MS_MAX,
);

serverTests('dynamodb')(
  'FLD-1, FLD-4, FLD-8: the demo runs with log, stream and views in DynamoDB',
  async ({ endpoint }) => {
    expect(await demo(await dynamodbFoldEnv(endpoint))).toEqual(ONCE);
  },
  MS_MAX,
);
