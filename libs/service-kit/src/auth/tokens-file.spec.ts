import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ManualTime } from '@tidemark/libs-kernel/testing';
import { createLog } from '../log.ts';
import { TokensFile } from './tokens-file.ts';

let folder: string;
let file: string;
let time: ManualTime;

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'tidemark-tokens-'));
  file = path.join(folder, 'tokens.json');
  time = new ManualTime(Date.parse('2026-01-01T00:00:00Z'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const hash = (token: string) => `sha256:${createHash('sha256').update(token).digest('hex')}`;
const entry = (token: string, more: object = {}) => ({
  name: `${token}'s`,
  hash: hash(token),
  grants: [{ actions: ['read'], streams: ['s*'] }],
  ...more,
});
const write = (...tokens: object[]) => writeFileSync(file, JSON.stringify({ tokens }));
const open = () => TokensFile.open({ file, clock: time, log: createLog('test', 'silent') });

// kills: tokens-file.ts: timingSafeEqual(entry.sha256, sha256) => true
test('SEC-1: a token is known by its hash, with its name and grants', async () => {
  write(entry('one'), entry('two', { grants: [{ actions: ['write', 'admin'], tenants: '*' }] }));
  const tokens = await open();
  expect(await tokens.authenticate('two')).toEqual({
    kind: 'caller',
    caller: {
      name: "two's",
      grants: [{ actions: ['write', 'admin'], tenants: '*', streams: '*' }],
      roles: [],
      claims: {},
    },
  });
  for (const wrong of ['', 'tw', 'two ', hash('two')])
    expect(await tokens.authenticate(wrong)).toEqual({ kind: 'refused', reason: 'unknown token' });
});

test('ING-9: a token may name the roles of its caller, and what is said of it', async () => {
  write(entry('one', { roles: ['writer'], claims: { org: 'acme', regions: ['eu'] } }));
  expect(await (await open()).authenticate('one')).toMatchObject({
    caller: { roles: ['writer'], claims: { org: 'acme', regions: ['eu'] } },
  });
});

// kills: tokens-file.ts: this.#options.clock.now() >= expiresMs => false
test('SEC-1: a token is refused from the moment that it expires', async () => {
  write(entry('t', { expires: '2026-01-01T00:00:01Z' }));
  const tokens = await open();
  time.advance(999);
  expect((await tokens.authenticate('t')).kind).toBe('caller');
  time.advance(1);
  expect(await tokens.authenticate('t')).toEqual({ kind: 'refused', reason: "the token of t's has expired" });
});

// kills: tokens-file.ts: if (text === this.#text) return; => return;
test('SEC-1: a changed file takes effect, and a broken one leaves the last good one in force', async () => {
  write(entry('old'));
  const tokens = await open();
  const known = async (token: string) => (await tokens.authenticate(token)).kind === 'caller';
  write(entry('new'));
  await tokens.look();
  expect([await known('old'), await known('new')]).toEqual([false, true]);
  for (const spoil of [() => writeFileSync(file, '{"tokens":'), () => write({ name: 'x' }), () => rmSync(file)]) {
    spoil();
    await tokens.look();
    expect(await known('new')).toBe(true);
  }
  write(entry('last'));
  await tokens.look();
  expect([await known('new'), await known('last')]).toEqual([false, true]);
});

test('SEC-1: the file is looked at again and again until the service stops', async () => {
  write(entry('old'));
  const tokens = await open();
  write(entry('new'));
  const stop = new AbortController();
  let sleeps = 0;
  await tokens.watch({ sleep: async () => (sleeps++ === 0 ? undefined : stop.abort()) }, stop.signal);
  expect((await tokens.authenticate('new')).kind).toBe('caller');
});

test.each([
  ['{', 'not a JSON document'],
  ['[]', 'the document: '],
  ['{"tokens":[],"more":1}', 'more: unknown member'],
  [{ hash: 'sha256:12' }, 'tokens[0].hash: must be sha256:'],
  [{ hash: 'the-token-itself' }, 'tokens[0].hash: must be sha256:'],
  [{ name: 'a\nb' }, 'tokens[0].name: must be 1 to 256 characters'],
  [{ expires: 'soon' }, 'tokens[0].expires: must be a time'],
  [{ expiry: 1 }, 'tokens[0].expiry: unknown member'],
  [{ roles: 'writer' }, 'tokens[0].roles: '],
  [{ roles: ['a b'] }, 'a role is named like a word'],
  [{ claims: [] }, 'tokens[0].claims: '],
  [{ grants: [{ actions: ['read'], stream: 's' }] }, 'tokens[0].grants[0].stream: unknown member'],
  [{ grants: [{ actions: ['read'] }] }, 'tokens[0].grants[0]: needs tenants or streams'],
  [{ grants: [{ actions: [], streams: '*' }] }, 'tokens[0].grants[0].actions: '],
  [{ grants: [{ actions: ['delete'], streams: '*' }] }, 'tokens[0].grants[0].actions[0]: '],
  [{ grants: [{ actions: ['read'], streams: ['a*b'] }] }, 'a * may stand only at the end'],
  [{ grants: [{ actions: ['read'], tenants: ['a*'] }] }, 'a tenant is named in full'],
  [{ grants: [{ actions: ['read'], tenants: 'acme' }] }, 'tokens[0].grants[0].tenants: '],
])('SEC-1: a file with %j is refused with the path to it: %s', async (spoiled, problem) => {
  if (typeof spoiled === 'string') writeFileSync(file, spoiled);
  else write(entry('t', spoiled));
  const error = await open().then(
    () => null,
    (thrown: Error) => thrown.message,
  );
  expect(error).toContain(problem);
  expect(error).not.toContain('the-token-itself');
});

test('SEC-1: one hash may stand once', async () => {
  write(entry('t'), entry('t', { name: 'other' }));
  await expect(open()).rejects.toThrow('tokens[1].hash: stands twice');
});
