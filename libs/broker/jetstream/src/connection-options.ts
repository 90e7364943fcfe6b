import { readFileSync } from 'node:fs';
import { Fault, type Random } from '@tidemark/libs-kernel';
import {
  type Authenticator,
  type ConnectionOptions,
  type TlsOptions,
  credsAuthenticator,
  nkeyAuthenticator,
  usernamePasswordAuthenticator,
} from 'nats';

/** At most one way. Files are read at every connect, so that a secret can be exchanged. */
export type JetStreamAuth =
  | { readonly kind: 'creds'; readonly file: string }
  | { readonly kind: 'nkey'; readonly seedFile: string }
  | { readonly kind: 'password'; readonly user: string; readonly passwordFile: string };

export interface JetStreamTls {
  /** Whom to trust; default: the system. */
  readonly caFile?: string;
  /** For servers that ask who connects. */
  readonly certFile?: string;
  readonly keyFile?: string;
  /** TLS before the server says anything, as servers with `handshake_first` want. */
  readonly handshakeFirst?: boolean;
}

export interface ConnectionSettings {
  /** One or several of `nats://host:port` or `tls://host:port`. */
  readonly servers: string | readonly string[];
  /** How this connection is called in the server's listings. */
  readonly name?: string;
  readonly auth?: JetStreamAuth;
  readonly tls?: JetStreamTls;
  readonly connectTimeoutMs?: number;
  /** Between attempts to connect again: half of it for certain, half by chance. Default 2 s. */
  readonly reconnectWaitMs?: number;
}

/** A server that does not answer is given up after about two of them. */
const PING_INTERVAL_MS = 5000;
const CONNECT_TIMEOUT_MS = 5000;
const RECONNECT_WAIT_MS = 2000;

export function connectionOptions(settings: ConnectionSettings, prefix: string, random: Random): ConnectionOptions {
  const { name = 'tidemark', auth, tls, connectTimeoutMs = CONNECT_TIMEOUT_MS } = settings;
  const { reconnectWaitMs = RECONNECT_WAIT_MS } = settings;
  return {
    servers: serversOf(settings.servers),
    name,
    inboxPrefix: `_INBOX_${prefix}`,
    // Notifications of its own are nothing to a process.
    noEcho: true,
    noAsyncTraces: true,
    timeout: connectTimeoutMs,
    maxReconnectAttempts: -1,
    // A wrong secret may be put right while we wait.
    ignoreAuthErrorAbort: true,
    reconnectDelayHandler: () => Math.ceil((reconnectWaitMs / 2) * (1 + random.fraction())),
    pingInterval: PING_INTERVAL_MS,
    maxPingOut: 2,
    ...(auth && { authenticator: authenticatorOf(auth) }),
    ...(tls && { tls: tlsOf(tls) }),
  };
}

/** Secrets come from files alone: an address ends up in logs. */
function serversOf(servers: string | readonly string[]): string[] {
  const list = (typeof servers === 'string' ? servers.split(',') : [...servers]).map((server) => server.trim());
  for (const server of list) {
    if (server.includes('@'))
      throw new Fault('misconfigured', 'an address of the broker holds a secret (@); use a file');
    if (!/^(nats|tls):\/\/[^\s/]+$/.test(server))
      throw new Fault(
        'misconfigured',
        `address ${JSON.stringify(server)}: must be nats://host:port or tls://host:port`,
      );
  }
  return list;
}

function authenticatorOf(auth: JetStreamAuth): Authenticator {
  switch (auth.kind) {
    case 'creds':
      return fromFile(auth.file, (creds) => credsAuthenticator(creds));
    case 'nkey':
      return fromFile(auth.seedFile, (seed) => nkeyAuthenticator(Buffer.from(secretOf(seed))));
    case 'password':
      return fromFile(auth.passwordFile, (password) => usernamePasswordAuthenticator(auth.user, secretOf(password)));
  }
}

/**
 * Reads the file now, so that a missing one fails the start, and again at every connect. One that cannot be used then is being exchanged:
 * it stays as it was, for the client ends for good when it has nothing to say.
 */
function fromFile(file: string, authenticatorWith: (bytes: Buffer) => Authenticator): Authenticator {
  let good = authenticatorWith(read(file));
  return (nonce) => {
    try {
      const fresh = authenticatorWith(read(file));
      const said = fresh(nonce);
      good = fresh;
      return said;
    } catch {
      return good(nonce);
    }
  };
}

function read(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (thrown) {
    throw new Fault('misconfigured', `${file} cannot be read`, { cause: thrown });
  }
}

function secretOf(bytes: Buffer): string {
  return bytes.toString().trim();
}

function tlsOf({ caFile, certFile, keyFile, handshakeFirst }: JetStreamTls): TlsOptions {
  for (const file of [caFile, certFile, keyFile]) if (file !== undefined) read(file);
  return {
    ...(caFile !== undefined && { caFile }),
    ...(certFile !== undefined && { certFile }),
    ...(keyFile !== undefined && { keyFile }),
    ...(handshakeFirst !== undefined && { handshakeFirst }),
  };
}
