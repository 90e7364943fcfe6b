import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ManualTime } from '@tidemark/libs-kernel/testing';
import { createLog } from '../log.ts';
import { SettingsProblem, address, describeSettings, parseSettings } from '../settings.ts';
import { authRule, authSettings, openAuthenticator, openDoorRule } from './settings.ts';

const shape = { ...authSettings, RELAY_ADDR: address.prefault('127.0.0.1:8787') };
const parse = (env: Record<string, string>) =>
  parseSettings(shape, 'RELAY_', env, [authRule, openDoorRule('RELAY_ADDR')]);
const problemsOf = (env: Record<string, string>): readonly string[] => {
  try {
    parse(env);
    return [];
  } catch (error) {
    return (error as SettingsProblem).problems;
  }
};
const SECRET = 'a shared secret of more than 32 bytes';

// kills: settings.ts: if (given.TIDEMARK_AUTH !== undefined) return []; => return [];
test('SEC-1: without a word about authentication only loopback addresses are listened on', () => {
  for (const own of ['127.0.0.1:1', 'localhost:1', '[::1]:1', '127.8.9.1:1'])
    expect([own, problemsOf({ RELAY_ADDR: own })]).toEqual([own, []]);
  for (const open of ['0.0.0.0:1', '[::]:1', '10.0.0.1:1', 'example.org:1', '127.0.0.1.example.org:1'])
    expect([open, problemsOf({ RELAY_ADDR: open })]).toEqual([
      open,
      [expect.stringContaining('is not a loopback address')],
    ]);
  expect(problemsOf({ RELAY_ADDR: '0.0.0.0:1', TIDEMARK_AUTH: 'none' })).toEqual([]);
});

// kills: settings.ts: kind === of => true
test('SEC-1: a setting of authentication that would have no effect is refused', () => {
  expect(problemsOf({ TIDEMARK_TOKENS_FILE: 'f' })).toEqual([
    'TIDEMARK_TOKENS_FILE: has no effect without TIDEMARK_AUTH=tokens',
  ]);
  expect(problemsOf({ TIDEMARK_AUTH: 'none', TIDEMARK_JWT_ISSUER: 'i', TIDEMARK_JWT_KEY: SECRET })).toEqual([
    'TIDEMARK_JWT_ISSUER: has no effect without TIDEMARK_AUTH=jwt',
    'TIDEMARK_JWT_KEY: has no effect without TIDEMARK_AUTH=jwt',
  ]);
});

test('SEC-1: each kind of authentication needs its own settings', () => {
  expect(problemsOf({ TIDEMARK_AUTH: 'tokens' })).toHaveLength(1);
  expect(problemsOf({ TIDEMARK_AUTH: 'jwt' })).toHaveLength(1);
  expect(
    problemsOf({ TIDEMARK_AUTH: 'jwt', TIDEMARK_JWT_KEY: SECRET, TIDEMARK_JWKS_URL: 'https://a.b/c' }),
  ).toHaveLength(1);
  expect(problemsOf({ TIDEMARK_AUTH: 'jwt', TIDEMARK_JWT_KEY: SECRET })).toEqual([]);
});

// kills: settings.ts: url?.protocol === 'https:' || => url !== null ||
test('SEC-1: published keys come over TLS, or from this machine', () => {
  const urls = (url: string) => problemsOf({ TIDEMARK_AUTH: 'jwt', TIDEMARK_JWKS_URL: url });
  for (const good of ['https://id.example/keys', 'http://127.0.0.1:1/keys', 'http://[::1]:1/'])
    expect(urls(good)).toEqual([]);
  for (const bad of ['http://id.example/keys', 'file:///etc/keys', 'id.example', 'https://u:pw@id.example/keys'])
    expect(urls(bad)).toEqual([expect.stringContaining('TIDEMARK_JWKS_URL: must be an https URL')]);
});

// kills: ../settings.ts: text.replace(/\/\/[^/?#]*@/g, '//...@') => text
test('SEC-2, OPS-2: a problem with a URL does not show the password in it', () => {
  const problems = problemsOf({ TIDEMARK_AUTH: 'jwt', TIDEMARK_JWKS_URL: 'ftp://u:secret@id.example/keys' });
  expect(problems).toEqual([expect.stringContaining('ftp://...@id.example/keys')]);
});

test('OPS-2: a key is read from its file, is judged there, and never shown', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tidemark-settings-'));
  const file = path.join(folder, 'key');
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  writeFileSync(file, pem);
  const problems = problemsOf({ TIDEMARK_AUTH: 'jwt', TIDEMARK_JWT_KEY_FILE: file });
  expect(problems).toEqual(['TIDEMARK_JWT_KEY: holds a private key; give its public key']);
  writeFileSync(file, `${SECRET}\n`);
  expect(parse({ TIDEMARK_AUTH: 'jwt', TIDEMARK_JWT_KEY_FILE: file }).TIDEMARK_JWT_KEY?.key).toEqual(
    Buffer.from(SECRET),
  );
  expect(problemsOf({ TIDEMARK_AUTH: 'jwt', TIDEMARK_JWT_KEY: 'hunter2' }).join()).not.toContain('hunter2');
  expect(describeSettings(shape)).toContain('or TIDEMARK_JWT_KEY_FILE names a file with it');
  rmSync(folder, { recursive: true });
});

test('SEC-1: nobody is asked without a word and with none; a tokens file that cannot be used is a problem of its setting', async () => {
  const parts = { clock: new ManualTime(), log: createLog('test', 'silent') };
  expect(await openAuthenticator(parse({}), parts)).toBeNull();
  expect(await openAuthenticator(parse({ TIDEMARK_AUTH: 'none' }), parts)).toBeNull();
  const missing = openAuthenticator(parse({ TIDEMARK_AUTH: 'tokens', TIDEMARK_TOKENS_FILE: '/nowhere/t.json' }), parts);
  await expect(missing).rejects.toMatchObject({
    problems: [expect.stringMatching(/^TIDEMARK_TOKENS_FILE: \/nowhere\/t\.json: ENOENT/)],
  });
});
