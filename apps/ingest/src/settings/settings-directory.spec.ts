import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type SchemaCompiler, loadSchemaCompiler } from '@tidemark/libs-ingest';
import { Fault } from '@tidemark/libs-kernel';
import { ManualTime } from '@tidemark/libs-kernel/testing';
import { systemSleeper } from '@tidemark/libs-service-kit';
import { SettingsDirectory, type SettingsDirectoryParts } from './settings-directory.ts';
import { type SettingsFolder, settingsFolder } from './settings-folder.ts';
import { parseTenant } from './tenant-settings.ts';

let compileSchema: SchemaCompiler;
let root: string;
let events: string[];
let queues: string[];
let heard: (() => void)[];
let queueFault: Fault | null;

beforeAll(async () => {
  compileSchema = await loadSchemaCompiler();
});
beforeEach(() => {
  root = mkdtempSync(path.join(os.tmpdir(), 'tidemark-settings-'));
  [events, queues, heard, queueFault] = [[], [], [], null];
});
afterEach(() => rmSync(root, { recursive: true }));

function say(event: string): void {
  events.push(event);
  for (const hear of heard.splice(0)) hear();
}
/** Resolves when the event was told. */
async function told(event: string): Promise<void> {
  while (!events.includes(event)) await new Promise<void>((resolve) => heard.push(resolve));
}

const parts = (more: Partial<SettingsDirectoryParts> = {}): SettingsDirectoryParts => ({
  folder: settingsFolder(root),
  parse: (tenant, files) => parseTenant(tenant, files, { retentionMsMin: 120_000, compileSchema }),
  openQueue: async (tenant, budget) => {
    if (queueFault !== null) throw queueFault;
    queues.push(`${tenant} ${budget}`);
  },
  report: {
    loaded: (tenant, tables) => say(`loaded ${tenant} ${tables}`),
    refused: (tenant, problems, served) => say(`refused ${tenant} ${served}: ${problems.join('; ')}`),
    postponed: (tenant, fault) => say(`postponed ${tenant}: ${fault.message}`),
    removed: (tenant) => say(`removed ${tenant}`),
    unreadable: () => say('unreadable'),
  },
  ...more,
});
const open = (more?: Partial<SettingsDirectoryParts>) => SettingsDirectory.open(parts(more));

function write(name: string, content: unknown): void {
  const file = path.join(root, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
}
const tablesOf = (directory: SettingsDirectory, tenant: string) => {
  const lookup = directory.tenant(tenant);
  return lookup.kind === 'served' ? [...lookup.tables.keys()] : lookup.kind;
};

test('ING-9: the tenants and tables of the folder are served, each with its queue; nobody else is', async () => {
  write('0/tenant.json', {});
  write('acme/tenant.json', { budget: 1000 });
  write('acme/tables/a.json', {});
  write('acme/tables/b.json', {});
  write('README.md', 'not a tenant');
  write('.git/tenant.json', {});
  const directory = await open();
  expect(directory.tenants()).toEqual(['0', 'acme']);
  expect([tablesOf(directory, '0'), tablesOf(directory, 'acme'), tablesOf(directory, 'eve')]).toEqual([
    [],
    ['a', 'b'],
    'unknown',
  ]);
  expect(queues).toEqual(['0 null', 'acme 1000']);
});

// kills: settings-directory.ts: const lookup = before?.lookup ?? { kind: 'invalid' }; => const lookup = { kind: 'invalid' } as const;
test('ING-9: a bad file keeps the last good settings, and is told once; a tenant that never had good ones is not served', async () => {
  write('acme/tenant.json', {});
  write('acme/tables/t.json', { retention: '1h' });
  write('bad/tenant.json', { bugdet: 1 });
  const directory = await open();
  expect(tablesOf(directory, 'bad')).toBe('invalid');
  const before = directory.tenant('acme');
  write('acme/tables/t.json', '{"retention":');
  await directory.look();
  await directory.look();
  expect(directory.tenant('acme')).toBe(before);
  expect(events).toEqual([
    'loaded acme 1',
    'refused bad false: tenant.json: bugdet: unknown member',
    expect.stringMatching(/^refused acme true: tables\/t\.json: invalid json: /),
  ]);
  write('acme/tables/t.json', { retention: '2h' });
  write('bad/tenant.json', { budget: 1 });
  await directory.look();
  expect(directory.tenant('acme')).toMatchObject({ tables: new Map([['t', { retentionMs: 7_200_000 }]]) });
  expect(tablesOf(directory, 'bad')).toEqual([]);
});

test('ING-9: one bad table keeps the whole tenant as it was, and no other tenant', async () => {
  for (const tenant of ['a', 'b']) write(`${tenant}/tenant.json`, {});
  const directory = await open();
  write('a/tables/good.json', {});
  write('a/tables/bad.json', { ordered: 1 });
  write('b/tables/good.json', {});
  await directory.look();
  expect([tablesOf(directory, 'a'), tablesOf(directory, 'b')]).toEqual([[], ['good']]);
});

test('ING-9: what did not change is not judged again', async () => {
  write('a/tenant.json', {});
  const parse = jest.fn(parts().parse);
  const directory = await open({ parse });
  await directory.look();
  expect(parse).toHaveBeenCalledTimes(1);
  expect(queues).toEqual(['a null']);
});

test('ING-9: a removed tenant is unknown, and known again when it comes back; a table likewise', async () => {
  write('a/tenant.json', {});
  write('a/tables/t.json', {});
  const directory = await open();
  rmSync(path.join(root, 'a/tables/t.json'));
  await directory.look();
  expect(tablesOf(directory, 'a')).toEqual([]);
  renameSync(path.join(root, 'a'), path.join(root, '.a'));
  await directory.look();
  expect([tablesOf(directory, 'a'), directory.tenants()]).toEqual(['unknown', []]);
  renameSync(path.join(root, '.a'), path.join(root, 'a'));
  await directory.look();
  expect(tablesOf(directory, 'a')).toEqual([]);
  expect(events).toEqual(['loaded a 1', 'loaded a 0', 'removed a', 'loaded a 0']);
});

test('ING-9: a changed budget resizes the queue, and nothing else does', async () => {
  write('a/tenant.json', { budget: 1000 });
  const directory = await open();
  write('a/tables/t.json', {});
  await directory.look();
  write('a/tenant.json', { budget: 2000 });
  await directory.look();
  write('a/tenant.json', {});
  await directory.look();
  expect(queues).toEqual(['a 1000', 'a 2000', 'a null']);
});

test('ING-9: settings whose queue cannot be opened are taken over when it can; until then the last good ones hold', async () => {
  write('a/tenant.json', { budget: 1000 });
  const directory = await open();
  write('a/tenant.json', { budget: 2000 });
  write('a/tables/t.json', {});
  write('b/tenant.json', {});
  queueFault = new Fault('unavailable', 'away');
  await directory.look();
  expect([tablesOf(directory, 'a'), tablesOf(directory, 'b')]).toEqual([[], 'invalid']);
  expect(events.slice(1)).toEqual(['postponed a: away', 'postponed b: away']);
  queueFault = null;
  await directory.look();
  expect([tablesOf(directory, 'a'), tablesOf(directory, 'b')]).toEqual([['t'], []]);
});

test('ING-9: at the start a queue that cannot be opened, or a folder that cannot be read, ends it', async () => {
  write('a/tenant.json', {});
  queueFault = new Fault('unavailable', 'away');
  await expect(open()).rejects.toBe(queueFault);
  await expect(open({ folder: settingsFolder(path.join(root, 'none')) })).rejects.toMatchObject({ code: 'ENOENT' });
});

test('ING-9: while the folder cannot be read every tenant keeps its settings', async () => {
  write('t/a/tenant.json', {});
  const directory = await open({ folder: settingsFolder(path.join(root, 't')) });
  renameSync(path.join(root, 't'), path.join(root, 'u'));
  await directory.look();
  expect([tablesOf(directory, 'a'), events]).toEqual([[], ['loaded a 0', 'unreadable']]);
});

test('ING-9: a mounted folder, whose files are links that change all at once, is read', async () => {
  write('..v1/acme/tenant.json', {});
  write('..v2/acme/tenant.json', {});
  write('..v2/acme/tables/t.json', {});
  symlinkSync('..v1', path.join(root, '..data'));
  symlinkSync(path.join('..data', 'acme'), path.join(root, 'acme'));
  const directory = await open();
  expect(tablesOf(directory, 'acme')).toEqual([]);
  symlinkSync('..v2', path.join(root, '..next'));
  renameSync(path.join(root, '..next'), path.join(root, '..data'));
  await directory.look();
  expect(tablesOf(directory, 'acme')).toEqual(['t']);
});

test('SEC-2: a file that is too large, a folder in place of a file and one in place of a table are problems', async () => {
  write('a/tenant.json', `{}${' '.repeat(1024 * 1024)}`);
  write('b/tenant.json/x', '');
  write('c/tenant.json', {});
  write('c/tables/t.json/x', '');
  await open();
  expect(events).toEqual([
    'refused a false: tenant.json: is larger than 1048576 bytes',
    'refused b false: tenant.json: cannot be read (EISDIR)',
    'refused c false: tables/t.json: cannot be read (EISDIR)',
  ]);
});

// kills: settings-folder.ts: if (odd.length === 0) return tenants => if (odd.length < 1e9) return tenants
test('ING-9: a folder that is away for a moment in the middle of a look removes no tenant', async () => {
  for (const tenant of ['a', 'b', 'c', 'd']) write(`${tenant}/tenant.json`, {});
  symlinkSync('nowhere', path.join(root, 'link'));
  const directory = await open();
  const away = `${root}-away`;
  for (let n = 0; n < 200; n++) {
    const looking = directory.look();
    for (let turn = 0; turn < n % 20; turn++) await new Promise(setImmediate);
    renameSync(root, away);
    for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
    renameSync(away, root);
    await looking;
  }
  expect(events.filter((event) => event.startsWith('removed'))).toEqual([]);
  expect(directory.tenants()).toEqual(['a', 'b', 'c', 'd']);
});

describe('watching', () => {
  const quiet: SettingsFolder['watch'] = () => ({ close: () => {} });

  test('ING-9: a change is taken over without being told of it, at the next look', async () => {
    write('a/tenant.json', {});
    const time = new ManualTime();
    const stop = new AbortController();
    const directory = await open({ folder: { ...settingsFolder(root), watch: quiet } });
    const watching = directory.watch(time, stop.signal);
    write('a/tables/t.json', {});
    time.advance(4999);
    await directory.look();
    write('a/tables/u.json', {});
    time.advance(1);
    await told('loaded a 2');
    expect(tablesOf(directory, 'a')).toEqual(['t', 'u']);
    stop.abort();
    await watching;
  });

  // kills: folder-watches.ts: watcher: changed && watchOrNull(folder, changed) => watcher: null
  test('ING-9: what stands in the way of one tenant is told of it alone, and ends nobody, also while it is watched', async () => {
    write('a/tenant.json', {});
    write('b/tenant.json', {});
    write('file-beside', {});
    const stop = new AbortController();
    const sleeper = {
      sleep: (ms: number, signal?: AbortSignal) => systemSleeper.sleep(ms === 5000 ? 86_400_000 : 0, signal),
    };
    const directory = await open();
    const watching = directory.watch(sleeper, stop.signal);
    symlinkSync('circle', path.join(root, 'a', 'circle'));
    await told('refused a true: circle: cannot be read (ELOOP)');
    rmSync(path.join(root, 'a'), { recursive: true });
    await told('removed a');
    events.length = 0;
    mkdirSync(path.join(root, 'a'));
    await told('refused a false: tenant.json: is missing; {} is enough');
    write('a/tenant.json', {});
    await told('loaded a 0');
    write('a/tables/t.json', {});
    await told('loaded a 1');
    write('b/tables/t.json', {});
    await told('loaded b 1');
    expect(events).toEqual([
      'refused a false: tenant.json: is missing; {} is enough',
      ...['loaded a 0', 'loaded a 1', 'loaded b 1'],
    ]);
    stop.abort();
    await watching;
  });

  test('ING-9: the file system tells of a change, long before the next look is due', async () => {
    write('a/tenant.json', {});
    const stop = new AbortController();
    // 5 s are a day here, so that only the file system can have told.
    const sleeper = {
      sleep: (ms: number, signal?: AbortSignal) => systemSleeper.sleep(ms === 5000 ? 86_400_000 : 0, signal),
    };
    const directory = await open();
    const watching = directory.watch(sleeper, stop.signal);
    write('a/tables/t.json', {});
    await told('loaded a 1');
    stop.abort();
    await watching;
  });
});
