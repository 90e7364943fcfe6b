import { Fault } from '@tidemark/libs-kernel';
import pg from 'pg';

/** Whether the connection is encrypted: never, if the server offers it, or in any case. Where it is, the certificate is verified. */
export type TlsMode = 'disable' | 'prefer' | 'require';

/** Where a URL leads. */
export interface Address {
  /** The URL without what is decided here. */
  readonly url: string;
  readonly host: string;
  readonly mode: TlsMode;
  /** Names the database in messages, without secrets. */
  readonly where: string;
}

const MODES: Readonly<Record<string, TlsMode>> = {
  disable: 'disable',
  prefer: 'prefer',
  require: 'require',
  'verify-ca': 'require',
  'verify-full': 'require',
};

/** Of client certificates and of roots by URL; a root is given as a file of its own instead. */
const REFUSED = ['sslcert', 'sslkey', 'sslrootcert', 'sslpassword', 'ssl', 'uselibpqcompat'];

/** Fault `misconfigured`, in one line without the password, when the URL cannot be used. */
export function parseAddress(text: string): Address {
  const url = parseUrl(text);
  const mode = MODES[url.searchParams.get('sslmode') ?? 'prefer'];
  if (mode === undefined) throw refused(`sslmode must be one of ${Object.keys(MODES).join(', ')}`);
  const given = REFUSED.find((name) => url.searchParams.has(name));
  if (given !== undefined) throw refused(`the parameter ${given} is not supported`);
  url.searchParams.delete('sslmode');
  const { host, port, database } = new pg.Client({ connectionString: url.href });
  const place = host.startsWith('/') ? host : `${host}:${port}`;
  return {
    url: url.href,
    host,
    mode: isLocalSocket(host) ? 'disable' : mode,
    where: `Postgres ${place}/${database ?? ''}`,
  };
}

/** Nobody can listen in between. */
export function isLoopback(host: string): boolean {
  return isLocalSocket(host) || /^(localhost|127(\.\d+){3}|\[?::1\]?)$/.test(host);
}

function isLocalSocket(host: string): boolean {
  return host.startsWith('/');
}

function parseUrl(text: string): URL {
  let url: URL;
  try {
    // A URL without a host, as one of a Unix socket is, is none to the parser.
    url = new URL(text.replace(/^(postgres(?:ql)?):\/\/(?=\/|\?|$)/, '$1://localhost'));
  } catch {
    throw refused('it is no URL');
  }
  if (!/^postgres(ql)?:$/.test(url.protocol)) throw refused('it must begin with postgres://');
  return url;
}

function refused(why: string): Fault {
  return new Fault('misconfigured', `the Postgres URL cannot be used: ${why}`);
}
