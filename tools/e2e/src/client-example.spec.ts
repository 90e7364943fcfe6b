import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { RelayProcess } from './relay-process.ts';
import { buildServices } from './service-process.ts';

jest.setTimeout(120_000);

const root = path.resolve(import.meta.dirname, '../../..');
const example = path.join(import.meta.dirname, 'client-example.ts');
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'tidemark-client-'));
  await buildServices('relay');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the client's page shows the example that is run here", () => {
  const page = readFileSync(path.join(root, 'docs/protocol/client.md'), 'utf8');
  const [, ...lines] = readFileSync(example, 'utf8').split('\n');
  expect(/```ts\n([^]*?)```/.exec(page)?.[1]).toBe(lines.join('\n'));
});

test('the example of the client syncs two devices through a relay, also a second time', async () => {
  const relay = await RelayProcess.start({ RELAY_SQLITE_FILE: path.join(folder, 'relay.sqlite') });
  try {
    const run = () => promisify(execFile)(process.execPath, [example, relay.url]);
    const first = await run();
    expect([first.stdout, first.stderr]).toEqual(['flour: Order flour\nyeast: Buy yeast\n', '']);
    expect((await run()).stdout).toBe(first.stdout);
  } finally {
    await relay.stop();
  }
});
