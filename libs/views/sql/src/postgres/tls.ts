import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type ConnectionOptions, getCACertificates } from 'node:tls';
import { Fault } from '@tidemark/libs-kernel';
import pg from 'pg';
import { type Address, isLoopback } from './address.ts';
import { CA_FILE_SETTING, mapError } from './map-error.ts';

export interface TlsOptions {
  readonly caFile?: string | undefined;
  readonly connectTimeoutMs: number;
  warn(message: string): void;
}

/**
 * How connections to the address are encrypted, decided once: a server that offered TLS is not talked to in plain text later. false: not
 * at all.
 */
export async function negotiateTls(address: Address, options: TlsOptions): Promise<ConnectionOptions | false> {
  const { host, mode, where } = address;
  // A file that cannot be used is an error whatever the mode, so that it does not come to light when the mode is raised.
  const tls = { ca: rootsOf(options.caFile), rejectUnauthorized: true };
  if (mode === 'disable') return false;
  if (mode === 'require' || (await offersTls(address, tls, options.connectTimeoutMs))) return tls;
  if (!isLoopback(host)) {
    options.warn(
      `${where} offers no TLS: what is sent to ${host} can be read on the way; set sslmode=require in its URL`,
    );
  }
  return false;
}

/** Node's own roots, and those of the file. */
function rootsOf(file: string | undefined): string[] {
  const roots = getCACertificates('default');
  return file === undefined ? roots : [...roots, ...certificatesOf(file)];
}

function certificatesOf(file: string): string[] {
  const unusable = (why: string, cause?: unknown): Fault =>
    new Fault('misconfigured', `${CA_FILE_SETTING}: ${file} ${why}`, { cause });
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (thrown) {
    throw unusable(`cannot be read (${(thrown as NodeJS.ErrnoException).code})`, thrown);
  }
  if (!/-----BEGIN [A-Z0-9 ]+-----/.test(text)) throw unusable('is no PEM file');
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g);
  if (blocks === null) throw unusable('holds no CERTIFICATE block');
  try {
    for (const block of blocks) new X509Certificate(block);
  } catch (thrown) {
    throw unusable('holds a CERTIFICATE block that is no certificate', thrown);
  }
  return blocks;
}

/** A server without TLS says so before anything else is asked. Every other answer, a refusal of the user too, is left to the pool. */
async function offersTls({ url, where }: Address, tls: ConnectionOptions, connectTimeoutMs: number): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, ssl: tls, connectionTimeoutMillis: connectTimeoutMs });
  client.on('error', () => {});
  try {
    await client.connect();
    return true;
  } catch (thrown) {
    if (/does not support SSL/.test((thrown as Error).message)) return false;
    throw mapError(thrown, where);
  } finally {
    await client.end().catch(() => {});
  }
}
