import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { SettingsProblem, address, describeSettings, parseSettings, seconds, secret } from './settings.ts';
import { sharedSettings } from './shared-settings.ts';

const shape = {
  ...sharedSettings,
  RELAY_ADDR: address.prefault('127.0.0.1:8787').describe('listen address'),
  RELAY_STORE: z.enum(['sqlite', 'postgres']).default('sqlite').describe('the op log'),
  DATABASE_URL: secret(z.url('must be a URL').optional().describe('the database')),
  RELAY_KEY: secret(z.string().optional().describe('a key')),
  RELAY_PUSH_DEADLINE_SECS: seconds({ min: 1, max: 60, default: 20 }).describe('seconds that a push may take'),
};

const problemsOf = (env: Record<string, string>): readonly string[] => {
  try {
    parseSettings(shape, 'RELAY_', env);
  } catch (error) {
    if (error instanceof SettingsProblem) return error.problems;
    throw error;
  }
  return [];
};

test('OPS-2: defaults apply when nothing is set, and an empty value counts as unset', () => {
  const settings = parseSettings(shape, 'RELAY_', { RELAY_STORE: '' });
  expect(settings.RELAY_ADDR).toEqual({ host: '127.0.0.1', port: 8787 });
  expect(settings.RELAY_STORE).toBe('sqlite');
  expect(settings.RELAY_PUSH_DEADLINE_SECS).toBe(20_000);
  expect(settings.TIDEMARK_DATA).toBe('./data');
});

// kills: settings.ts: problems.push(`${name}: ${issue.message}${shown}`); => break;
test('OPS-2: every problem is reported at once, each naming its variable and the value', () => {
  const problems = problemsOf({ RELAY_ADDR: 'nowhere', RELAY_STORE: 'mysql', RELAY_PUSH_DEADLINE_SECS: 'x' });
  expect(problems).toHaveLength(3);
  expect(problems[0]).toBe('RELAY_ADDR: must be host:port, such as 127.0.0.1:8787, not "nowhere"');
  expect(problems[1]).toMatch(/^RELAY_PUSH_DEADLINE_SECS: .*"x"$/);
  expect(problems[2]).toMatch(/^RELAY_STORE: .*"sqlite"\|"postgres".*"mysql"$/);
});

// kills: settings.ts: return name.startsWith(prefix) || => return
test('OPS-2: unknown variables of its own prefix and of TIDEMARK_ are refused, with the nearest name', () => {
  expect(problemsOf({ RELAY_STOER: 'sqlite', TIDEMARK_DATE: '/x', INGEST_ADDR: 'theirs', HOME: '/root' })).toEqual([
    'RELAY_STOER: unknown setting (did you mean RELAY_STORE?)',
    'TIDEMARK_DATE: unknown setting (did you mean TIDEMARK_DATA?)',
  ]);
});

// kills: settings.ts: !isServiceLink(name) && => true &&
test("OPS-2: names of Kubernetes' service links are ignored", () => {
  const links = {
    RELAY_SERVICE_HOST: '10.0.0.1',
    RELAY_SERVICE_PORT: '8787',
    RELAY_SERVICE_PORT_HTTP: '8787',
    RELAY_PORT: 'tcp://10.0.0.1:8787',
    RELAY_PORT_8787_TCP: 'tcp://10.0.0.1:8787',
    RELAY_PORT_8787_TCP_PROTO: 'tcp',
    RELAY_PORT_8787_TCP_PORT: '8787',
    RELAY_PORT_8787_TCP_ADDR: '10.0.0.1',
    TIDEMARK_RELAY_SERVICE_HOST: '10.0.0.1',
  };
  expect(problemsOf(links)).toEqual([]);
});

describe('a secret', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'tidemark-secret-'));
    file = path.join(folder, 'url');
    writeFileSync(file, 'postgres://u:p@h/d\n');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  // kills: settings.ts: .replace(/\r?\n$/, '') => .trimStart()
  test('OPS-2: may stand in a file, whose last line break does not belong to it', () => {
    writeFileSync(file, ' a key \n\n');
    expect(parseSettings(shape, 'RELAY_', { RELAY_KEY_FILE: file }).RELAY_KEY).toBe(' a key \n');
    expect(parseSettings(shape, 'RELAY_', { DATABASE_URL_FILE: '' }).DATABASE_URL).toBeUndefined();
  });

  test('OPS-2: in both places, in a file that cannot be read, or in an empty one is a problem that names the variable', () => {
    const twice = problemsOf({ DATABASE_URL: 'postgres://x', DATABASE_URL_FILE: file });
    expect(twice).toEqual(['DATABASE_URL: is given, and DATABASE_URL_FILE is too; one of them is enough']);
    expect(problemsOf({ DATABASE_URL_FILE: folder })).toEqual([`DATABASE_URL_FILE: cannot read ${folder} (EISDIR)`]);
    const missing = problemsOf({ DATABASE_URL_FILE: `${file}.not`, RELAY_STORE: 'mysql' });
    expect(missing).toHaveLength(2);
    expect(missing[0]).toBe(`DATABASE_URL_FILE: cannot read ${file}.not (ENOENT)`);
    writeFileSync(file, '\n');
    expect(problemsOf({ DATABASE_URL_FILE: file })).toContain(`DATABASE_URL_FILE: ${file} is empty`);
  });

  // kills: settings.ts: given[name] === undefined || isSecret(name, shape) => given[name] === undefined
  test('OPS-2: is never shown, wherever it came from', () => {
    writeFileSync(file, 'hunter2');
    expect(problemsOf({ DATABASE_URL_FILE: file })).toEqual(['DATABASE_URL: must be a URL']);
    expect(problemsOf({ DATABASE_URL: 'hunter2' })).toEqual(['DATABASE_URL: must be a URL']);
  });

  test('OPS-2: what is no secret has no file', () => {
    expect(problemsOf({ RELAY_STORE_FILE: file })).toEqual([
      expect.stringContaining('RELAY_STORE_FILE: unknown setting'),
    ]);
  });
});

test('an address may be IPv6 in brackets; a port above 65535 is refused', () => {
  expect(parseSettings(shape, 'RELAY_', { RELAY_ADDR: '[::1]:80' }).RELAY_ADDR).toEqual({ host: '::1', port: 80 });
  expect(problemsOf({ RELAY_ADDR: '127.0.0.1:65536' })).toHaveLength(1);
});

test('--help lists every setting with its description and default', () => {
  const text = describeSettings(shape);
  expect(text).toContain('RELAY_ADDR');
  expect(text).toContain('listen address [127.0.0.1:8787]');
  expect(text).toContain('seconds that a push may take [20]');
  expect(text.split('\n')).toHaveLength(Object.keys(shape).length);
});
