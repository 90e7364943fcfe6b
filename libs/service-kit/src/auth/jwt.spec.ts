import { type KeyObject, createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ManualTime } from '@tidemark/libs-kernel/testing';
import { createLog } from '../log.ts';
import type { Authenticator } from './authenticator.ts';
import { openJwt } from './jwt.ts';
import { readJwtKey } from './jwt-key.ts';

const log = createLog('test', 'silent');
const SECRET = 'a shared secret of more than 32 bytes';
const NOW_SECS = 1_790_000_000;
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pem = ({ publicKey }: { publicKey: KeyObject }) => publicKey.export({ type: 'spki', format: 'pem' }).toString();

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const CLAIMS = { sub: 'mobile', exp: NOW_SECS + 60, tidemark: [{ actions: ['read'], streams: ['s'] }] };
function jwt(header: object, claims: object, signature: (input: string) => Buffer): string {
  const input = `${encode(header)}.${encode(claims)}`;
  return `${input}.${signature(input).toString('base64url')}`;
}
const hmac = (secret: string, claims: object = CLAIMS) =>
  jwt({ alg: 'HS256' }, claims, (input) => createHmac('sha256', secret).update(input).digest());
const rs256 = (claims: object = CLAIMS, kid = 'k1') =>
  jwt({ alg: 'RS256', kid }, claims, (input) => sign('sha256', Buffer.from(input), rsa.privateKey));

let time: ManualTime;
beforeEach(() => (time = new ManualTime(NOW_SECS * 1000)));

const withSecret = (more: object = {}) => openJwt({ keys: readJwtKey(SECRET), clock: time, log, ...more });
const kindOf = async (authenticator: Authenticator, token: string) => (await authenticator.authenticate(token)).kind;

test('SEC-1: a JWT names its caller by sub and its rights by the claim tidemark', async () => {
  expect(await (await withSecret()).authenticate(hmac(SECRET))).toEqual({
    kind: 'caller',
    caller: {
      name: 'mobile',
      grants: [{ actions: ['read'], tenants: '*', streams: ['s'] }],
      roles: [],
      claims: CLAIMS,
    },
  });
  const { tidemark: _, ...without } = CLAIMS;
  expect(await (await withSecret()).authenticate(hmac(SECRET, without))).toEqual({
    kind: 'caller',
    caller: { name: 'mobile', grants: [], roles: [], claims: without },
  });
});

test('ING-9: a JWT names the roles of its caller by the claim tidemark_roles, and every claim is known', async () => {
  const claims = { ...CLAIMS, tidemark_roles: ['writer'], org: { id: 7 } };
  expect(await (await withSecret()).authenticate(hmac(SECRET, claims))).toMatchObject({
    caller: { roles: ['writer'], claims: { org: { id: 7 } } },
  });
});

// kills: jwt.ts: requiredClaims: ['exp', 'sub'], => requiredClaims: [],
test.each([
  ['another secret', hmac(`${SECRET}!`)],
  ['no exp', hmac(SECRET, { ...CLAIMS, exp: undefined })],
  ['no sub', hmac(SECRET, { ...CLAIMS, sub: undefined })],
  ['an empty sub', hmac(SECRET, { ...CLAIMS, sub: '' })],
  ['roles that are none', hmac(SECRET, { ...CLAIMS, tidemark_roles: 'writer' })],
  ['grants that are none', hmac(SECRET, { ...CLAIMS, tidemark: [{ actions: ['read'] }] })],
  ['no signature', jwt({ alg: 'none' }, CLAIMS, () => Buffer.alloc(0))],
  ['a bad form', 'abc'],
  ['a signature of another kind of key', rs256()],
])('SEC-1: a JWT with %s is refused', async (_what, token) => {
  expect(await kindOf(await withSecret(), token)).toBe('refused');
});

// kills: jwt.ts: currentDate: new Date(clock.now()) => currentDate: new Date(0)
test('SEC-1: a JWT is good until 30 seconds after its exp, for clocks that differ', async () => {
  const authenticator = await withSecret();
  time.advance(89_000);
  expect(await kindOf(authenticator, hmac(SECRET))).toBe('caller');
  time.advance(1000);
  expect(await kindOf(authenticator, hmac(SECRET))).toBe('refused');
});

// kills: jwt.ts: ...(audience !== undefined && { audience }) => ...{}
test('SEC-1: issuer and audience must fit where they are set', async () => {
  const authenticator = await withSecret({ issuer: 'https://id.example', audience: 'tidemark' });
  const token = (claims: object) => hmac(SECRET, { ...CLAIMS, ...claims });
  expect(await kindOf(authenticator, token({ iss: 'https://id.example', aud: ['x', 'tidemark'] }))).toBe('caller');
  expect(await kindOf(authenticator, token({ iss: 'https://id.example', aud: 'x' }))).toBe('refused');
  expect(await kindOf(authenticator, token({ iss: 'https://other.example', aud: 'tidemark' }))).toBe('refused');
  expect(await kindOf(authenticator, token({}))).toBe('refused');
});

// kills: jwt-key.ts: return { key, algorithms: RSA } => return { key: Buffer.from(pem), algorithms: HMAC }
test('SEC-1: the key decides the algorithm: a public key is never taken for a shared secret', async () => {
  const authenticator = await openJwt({ keys: readJwtKey(pem(rsa)), clock: time, log });
  expect(await kindOf(authenticator, rs256())).toBe('caller');
  expect(await kindOf(authenticator, hmac(pem(rsa)))).toBe('refused');
});

test('SEC-1: keys that are weak, private or of an unknown kind are refused', () => {
  expect(readJwtKey(pem(ec)).algorithms).toEqual(['ES256']);
  expect(() => readJwtKey('short')).toThrow('at least 32 bytes');
  expect(() => readJwtKey(rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())).toThrow('a private key');
  expect(() => readJwtKey('-----BEGIN PUBLIC KEY-----\nx')).toThrow('no readable public key');
  expect(() => readJwtKey(pem(generateKeyPairSync('ec', { namedCurve: 'secp256k1' })))).toThrow('of a kind');
  expect(() => readJwtKey(pem(generateKeyPairSync('rsa', { modulusLength: 1024 })))).toThrow('2048 bits');
});

describe('keys that the issuer publishes', () => {
  let server: Server;
  let status: number;
  let keys: object[];
  let asked: number;

  beforeEach(async () => {
    [status, asked] = [200, 0];
    keys = [{ ...rsa.publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'RS256' }];
    server = createServer((_request, response) => {
      asked++;
      response.writeHead(status, { connection: 'close' }).end(JSON.stringify({ keys }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => new Promise((resolve) => server.close(resolve)));

  const open = () =>
    openJwt({ keys: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`), clock: time, log });

  test('SEC-1: are fetched once, and decide the algorithm', async () => {
    const authenticator = await open();
    expect(await kindOf(authenticator, rs256())).toBe('caller');
    expect(await kindOf(authenticator, rs256())).toBe('caller');
    expect(await kindOf(authenticator, hmac(pem(rsa)))).toBe('refused');
    expect(await kindOf(authenticator, rs256(CLAIMS, 'unknown'))).toBe('refused');
    expect(asked).toBe(1);
  });

  // kills: jwt.ts: cacheMaxAge: Infinity => cacheMaxAge: 0
  test('SEC-1: stay in force while they cannot be fetched; before the first fetch the token cannot be checked', async () => {
    const authenticator = await open();
    status = 500;
    await expect(authenticator.authenticate(rs256())).rejects.toMatchObject({ code: 'unavailable' });
    status = 200;
    expect(await kindOf(authenticator, rs256())).toBe('caller');
    status = 500;
    const stop = new AbortController();
    await authenticator.watch({ sleep: async () => stop.abort() }, stop.signal);
    expect(await kindOf(authenticator, rs256())).toBe('caller');
  });

  // kills: jwt.ts: if (!(error instanceof errors.JWSSignatureVerificationFailed)) break; => break;
  test('SEC-1: without names verify the tokens of either while there are two of a kind, and no others', async () => {
    const [next, foreign] = [0, 1].map(() => generateKeyPairSync('rsa', { modulusLength: 2048 })) as [
      typeof rsa,
      typeof rsa,
    ];
    keys = [rsa, next].map(({ publicKey }) => ({ ...publicKey.export({ format: 'jwk' }), alg: 'RS256' }));
    const authenticator = await open();
    const nameless = (pair: typeof rsa, claims: object = CLAIMS) =>
      jwt({ alg: 'RS256' }, claims, (input) => sign('sha256', Buffer.from(input), pair.privateKey));
    for (const pair of [rsa, next]) {
      expect(await kindOf(authenticator, nameless(pair))).toBe('caller');
      const expired = await authenticator.authenticate(nameless(pair, { ...CLAIMS, exp: NOW_SECS - 60 }));
      expect(expired).toMatchObject({ kind: 'refused', reason: expect.stringContaining('"exp"') });
    }
    const refused = await authenticator.authenticate(nameless(foreign));
    expect(refused).toMatchObject({ kind: 'refused', reason: 'signature verification failed' });
  });
});
