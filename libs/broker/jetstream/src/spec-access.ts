/** Secrets, certificates and rights of one server, in files of a temporary folder. */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificates } from '@tidemark/tools-services/testing';
import { nkeys } from 'nats';

type KeyPair = ReturnType<typeof nkeys.createUser>;

export const PREFIX = 'rights';

/** What docs/operating/nats.md says that our user needs. */
export const RIGHTS = `{
  publish: [
    "${PREFIX}.ingest.>", "${PREFIX}.dlq.>", "${PREFIX}.lease.>", "${PREFIX}.notify.>",
    "$JS.API.INFO", "$JS.API.STREAM.NAMES", "$JS.API.STREAM.INFO.*", "$JS.API.STREAM.CREATE.*", "$JS.API.STREAM.UPDATE.*",
    "$JS.API.STREAM.PURGE.*", "$JS.API.STREAM.MSG.GET.*", "$JS.API.STREAM.MSG.DELETE.*", "$JS.API.STREAM.LEADER.STEPDOWN.*",
    "$JS.API.CONSUMER.LIST.*", "$JS.API.CONSUMER.INFO.*.*", "$JS.API.CONSUMER.CREATE.*.*", "$JS.API.CONSUMER.DURABLE.CREATE.*.*",
    "$JS.API.CONSUMER.MSG.NEXT.*.*", "$JS.ACK.>"
  ]
  subscribe: ["_INBOX_${PREFIX}.>", "${PREFIX}.lease.*", "${PREFIX}.notify.*"]
}`;

export interface Access {
  readonly folder: string;
  readonly files: {
    readonly password: string;
    readonly wrong: string;
    readonly nkey: string;
    readonly ca: string;
    readonly otherCa: string;
    readonly creds: string;
  };
  /** Lines of the server: TLS, a user by password with just the rights that we need, one by key, one that may only look. */
  readonly configuration: string;
  /** Lines of a server that trusts an operator's tokens. */
  readonly tokens: string;
}

export async function makeAccess(): Promise<Access> {
  const folder = await mkdtemp(join(tmpdir(), 'tidemark-nats-access-'));
  const file = async (name: string, text: string) => {
    await writeFile(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  const { root, server } = await makeCertificates();
  const user = nkeys.createUser();
  const operated = operatorTokens();
  const [certificate, key] = [await file('server.pem', server.certificate), await file('server.key', server.key)];
  return {
    folder,
    files: {
      password: await file('password', 'secret\n'),
      wrong: await file('wrong', 'guess\n'),
      nkey: await file('user.nk', `${Buffer.from(user.getSeed()).toString()}\n`),
      ca: await file('ca.pem', root),
      otherCa: await file('other-ca.pem', (await makeCertificates()).root),
      creds: await file('user.creds', operated.creds),
    },
    configuration: `
tls { cert_file: "${certificate}", key_file: "${key}", timeout: 30 }
accounts { APP { jetstream: enabled, users: [
  { user: tidemark, password: secret, permissions: ${RIGHTS} }
  { nkey: ${user.getPublicKey()} }
  { user: looks, password: secret, permissions: { publish: ["$JS.API.STREAM.INFO.*"], subscribe: ["_INBOX_${PREFIX}.>", "${PREFIX}.lease.*"] } }
] } }
`,
    tokens: `
operator: ${operated.operator}
resolver: MEMORY
system_account: ${operated.system}
resolver_preload: { ${operated.system}: ${operated.systemToken}, ${operated.account}: ${operated.accountToken} }
`,
  };
}

const UNLIMITED = { subs: -1, data: -1, payload: -1 };
const LIMITS = { ...UNLIMITED, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };
const ACCOUNT = { type: 'account', default_permissions: { pub: {}, sub: {} } };

/** An operator, its account and a user of it, each vouched for by the one before. */
function operatorTokens() {
  const [operator, system] = [nkeys.createOperator(), nkeys.createAccount()];
  const [account, user] = [nkeys.createAccount(), nkeys.createUser()];
  const userToken = token(user, account, { type: 'user', ...UNLIMITED, pub: {}, sub: {} });
  const seed = Buffer.from(user.getSeed()).toString();
  return {
    account: account.getPublicKey(),
    operator: token(operator, operator, { type: 'operator' }),
    accountToken: token(account, operator, {
      ...ACCOUNT,
      limits: { ...LIMITS, mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 },
    }),
    system: system.getPublicKey(),
    systemToken: token(system, operator, { ...ACCOUNT, limits: LIMITS }),
    creds: [
      ...['-----BEGIN NATS USER JWT-----', userToken, '------END NATS USER JWT------', ''],
      ...['-----BEGIN USER NKEY SEED-----', seed, '------END USER NKEY SEED------', ''],
    ].join('\n'),
  };
}

function token(subject: KeyPair, issuer: KeyPair, claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const [sub, iss] = [subject.getPublicKey(), issuer.getPublicKey()];
  const body = { jti: sub, iat: 1_700_000_000, iss, sub, name: sub, nats: { ...claims, version: 2 } };
  const text = `${part({ typ: 'JWT', alg: 'ed25519-nkey' })}.${part(body)}`;
  return `${text}.${Buffer.from(issuer.sign(Buffer.from(text))).toString('base64url')}`;
}
