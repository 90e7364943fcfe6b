import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ServerAbsent } from './absent.ts';
import type { ServerCertificate } from './postgres.ts';
import { onPath, run } from './programs.ts';

/** A root that nobody trusts by itself, and a certificate by it for `localhost` and 127.0.0.1. */
export interface Certificates {
  /** PEM. */
  readonly root: string;
  readonly server: ServerCertificate;
}

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

export async function makeCertificates(env: NodeJS.ProcessEnv = process.env): Promise<Certificates> {
  if (!(await onPath('openssl', env))) throw new ServerAbsent('openssl is not on PATH');
  const cwd = await mkdtemp(path.join(tmpdir(), 'tidemark-certificates-'));
  try {
    const openssl = (...args: string[]) => run('openssl', args, { cwd });
    await openssl(
      'req',
      '-x509',
      ...KEY,
      '-keyout',
      'root.key',
      '-out',
      'root.pem',
      '-days',
      '2',
      '-subj',
      '/CN=tests',
    );
    await openssl('req', ...KEY, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=localhost');
    await writeFile(path.join(cwd, 'names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1');
    const root = ['-CA', 'root.pem', '-CAkey', 'root.key', '-CAcreateserial', '-days', '2', '-extfile', 'names'];
    await openssl('x509', '-req', '-in', 'server.csr', ...root, '-out', 'server.pem');
    const text = (name: string) => readFile(path.join(cwd, name), 'utf8');
    return {
      root: await text('root.pem'),
      server: { certificate: await text('server.pem'), key: await text('server.key') },
    };
  } finally {
    await rm(cwd, { recursive: true });
  }
}
