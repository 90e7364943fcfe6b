import { brokerRule, brokerSettings, natsSettings } from './broker-settings.ts';
import { SettingsProblem, parseSettings } from './settings.ts';

const parse = (env: Record<string, string>) => parseSettings(brokerSettings, 'RELAY_', env, [brokerRule]);

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    parse(env);
  } catch (error) {
    if (error instanceof SettingsProblem) return error.problems;
    throw error;
  }
  return [];
}

const NATS = { TIDEMARK_BROKER: 'nats', NATS_URL: 'nats://127.0.0.1:4222' };

test('OPS-2: the embedded broker needs nothing, and NATS its address', () => {
  expect(parse({}).TIDEMARK_BROKER).toBe('embedded');
  expect(problemsOf({ TIDEMARK_BROKER: 'nats' })).toEqual(['NATS_URL: must be set where TIDEMARK_BROKER is nats']);
  expect(natsSettings(parse(NATS))).toEqual({
    servers: 'nats://127.0.0.1:4222',
    prefix: 'tidemark',
    manageStreams: true,
    replicas: 1,
  });
});

test('SEC-2: an address with a secret in it is refused, and so is what is no address', () => {
  const urls = ['nats://me:pw@host:1', 'http://host', 'nats://a:1,,nats://b:2', 'nats://', 'host:4222'];
  for (const NATS_URL of urls) expect([NATS_URL, problemsOf({ ...NATS, NATS_URL }).length]).toEqual([NATS_URL, 1]);
  for (const NATS_URL of ['nats://a:1,tls://b:2', 'nats://[::1]:4222'])
    expect([NATS_URL, problemsOf({ ...NATS, NATS_URL })]).toEqual([NATS_URL, []]);
});

test('OPS-2: there is one way in, and what belongs together is set together', () => {
  expect(problemsOf({ ...NATS, TIDEMARK_NATS_CREDS_FILE: 'a', TIDEMARK_NATS_NKEY_FILE: 'b' })).toEqual([
    'TIDEMARK_NATS_CREDS_FILE, TIDEMARK_NATS_NKEY_FILE: only one of them may be set',
  ]);
  expect(problemsOf({ ...NATS, TIDEMARK_NATS_USER: 'u', TIDEMARK_NATS_KEY_FILE: 'k' })).toEqual([
    'TIDEMARK_NATS_CERT_FILE: must be set where TIDEMARK_NATS_KEY_FILE is',
    'TIDEMARK_NATS_PASSWORD_FILE: must be set where TIDEMARK_NATS_USER is',
  ]);
});

test('each way in, TLS and whose the streams are reach the connection', () => {
  const ways: [Record<string, string>, object][] = [
    [{ TIDEMARK_NATS_CREDS_FILE: 'c' }, { kind: 'creds', file: 'c' }],
    [{ TIDEMARK_NATS_NKEY_FILE: 'n' }, { kind: 'nkey', seedFile: 'n' }],
    [
      { TIDEMARK_NATS_USER: 'u', TIDEMARK_NATS_PASSWORD_FILE: 'p' },
      { kind: 'password', user: 'u', passwordFile: 'p' },
    ],
  ];
  for (const [env, auth] of ways) expect(natsSettings(parse({ ...NATS, ...env })).auth).toEqual(auth);
  const env = {
    TIDEMARK_NATS_CA_FILE: 'ca',
    TIDEMARK_NATS_CERT_FILE: 'cert',
    TIDEMARK_NATS_KEY_FILE: 'key',
    TIDEMARK_NATS_MANAGE_STREAMS: '0',
    TIDEMARK_NATS_REPLICAS: '3',
    TIDEMARK_NATS_PREFIX: 'prod-1',
  };
  expect(natsSettings(parse({ ...NATS, ...env }))).toMatchObject({
    tls: { caFile: 'ca', certFile: 'cert', keyFile: 'key' },
    manageStreams: false,
    replicas: 3,
    prefix: 'prod-1',
  });
});
