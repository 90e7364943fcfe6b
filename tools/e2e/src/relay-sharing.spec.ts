import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { serverTests } from '@tidemark/tools-services/testing';
import { dynamodbEnv } from './relay-dynamodb.ts';
import { buildServices } from './service-process.ts';
import { runSharingSuite } from './sharing-suite.ts';

beforeAll(() => buildServices('relay'), 60_000);

const onPostgres = serverTests('postgres');
const onDynamodb = serverTests('dynamodb');
let folder: string;
beforeAll(() => void (folder = mkdtempSync(path.join(os.tmpdir(), 'tidemark-sharing-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const runOn = (env: NodeJS.ProcessEnv) => runSharingSuite({ TIDEMARK_DATA: folder, ...env });

test('RLY-18: two relays on one SQLite file keep every promise', async () => {
  await runOn({ RELAY_STORE: 'sqlite', RELAY_SQLITE_FILE: path.join(folder, 'relay.sqlite') });
}, 240_000);

onPostgres(
  'RLY-18: two relays on one Postgres database keep every promise',
  ({ endpoint }) => runOn({ RELAY_STORE: 'postgres', DATABASE_URL: endpoint }),
  240_000,
);

onDynamodb(
  'RLY-18: two relays on one DynamoDB table keep every promise',
  async ({ endpoint }) => runOn(await dynamodbEnv(endpoint)),
  240_000,
);
