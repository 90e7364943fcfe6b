import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type ConnectionOptions, getCACertificates } from 'node:tls';
import { Fault } from '@tidemark/libs-kernel';
import pg from 'pg';
import { type Address, isLoopback } from './address.ts';
import { mapError } from './map-error.ts';
import type { PostgresUse } from './use.ts';

export interface TlsOptions {
  readonly use: PostgresUse;
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
  const tls = { ca: rootsOf(options), rejectUnauthorized: true };
  if (mode === 'disable') return false;
  if (mode === 'require' || (await offersTls(address, tls, options))) return tls;
  if (!isLoopback(host)) {
    options.warn(
      `${where} offers no TLS: what is sent to ${host} can be read on the way; set sslmode=require in its URL`,
    );
  }
  return false;
}

/** Node's own roots, and those of the file. */
function rootsOf({ caFile, use }: TlsOptions): string[] {
  const roots = getCACertificates('default');
  return caFile === undefined ? roots : [...roots, ...certificatesOf(caFile, use.caFileSetting)];
}

function certificatesOf(file: string, setting: string): string[] {
  const unusable = (why: string, cause?: unknown): Fault =>
    new Fault('misconfigured', `${setting}: ${file} ${why}`, { cause });
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
async function offersTls({ url, where }: Address, tls: ConnectionOptions, options: TlsOptions): Promise<boolean> {
  const { connectTimeoutMs: connectionTimeoutMillis, use } = options;
  const client = new pg.Client({ connectionString: url, ssl: tls, connectionTimeoutMillis });
  client.on('error', () => {});
  try {
    await client.connect();
    return true;
  } catch (thrown) {
    if (/does not support SSL/.test((thrown as Error).message)) return false;
    throw mapError(thrown, where, use);
  } finally {
    await client.end().catch(() => {});
  }
}
