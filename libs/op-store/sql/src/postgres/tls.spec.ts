import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { getCACertificates } from 'node:tls';
import { type Certificates, makeCertificates, serverTests } from '@tidemark/tools-services/testing';
import { parseAddress } from './address.ts';
import { Proxy } from './proxy.ts';
import { Scratch } from './scratch.ts';
import { negotiateTls } from './tls.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'tidemark-tls-'));
afterAll(() => rmSync(folder, { recursive: true }));

let certificates: Certificates;
const tlsTest = serverTests('postgres', async () => {
  certificates = await makeCertificates();
  return { certificate: certificates.server };
});

function file(name: string, text: string): string {
  const full = path.join(folder, name);
  writeFileSync(full, text);
  return full;
}

function scratchTest(title: string, run: (scratch: Scratch, url: (mode: string) => string) => Promise<void>): void {
  tlsTest(title, async ({ endpoint }) => {
    const scratch = await new Scratch(endpoint).make();
    const url = (mode: string): string => {
      const changed = new URL(scratch.url);
      changed.searchParams.set('sslmode', mode);
      return changed.href;
    };
    try {
      await run(scratch, url);
    } finally {
      await scratch.remove();
    }
  });
}

const SESSIONS = `
  SELECT bool_and(ssl) AS encrypted, count(*)::integer AS many FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
  WHERE application_name = 'tidemark'`;

const UNTRUSTED = { code: 'misconfigured', message: expect.stringMatching(/certificate.*RELAY_PG_CA_FILE/) };

describe('TLS to Postgres', () => {
  scratchTest(
    'SEC-1: with its root named, every session is encrypted, the one that listens too',
    async (scratch, url) => {
      for (const mode of ['require', 'prefer', 'verify-full']) {
        const caFile = file('root.pem', certificates.root);
        const { opStore, close } = await scratch.open({ url: url(mode), caFile });
        const watch = await opStore.watch(() => {});
        const look = await scratch.client();
        expect((await look.query(SESSIONS)).rows).toEqual([{ encrypted: true, many: 2 }]);
        await watch?.close();
        await close();
        while ((await look.query(SESSIONS)).rows[0].many > 0);
      }
      expect(scratch.warnings).toEqual([]);
    },
  );

  scratchTest(
    'SEC-1: a certificate of an unknown root is refused, whatever TLS was asked for',
    async (scratch, url) => {
      for (const mode of ['require', 'prefer'])
        await expect(scratch.open({ url: url(mode) })).rejects.toMatchObject(UNTRUSTED);
      const { opStore } = await scratch.open({ url: url('disable') });
      expect(await opStore.head('s')).toBe(0n);
    },
  );

  scratchTest('SEC-1: roots of a file are trusted beside those that come with Node, not instead', async (_, url) => {
    const caFile = file('root.pem', certificates.root);
    const tls = await negotiateTls(parseAddress(url('require')), { caFile, connectTimeoutMs: 10_000, warn: () => {} });
    const { ca } = tls as { ca: string[] };
    expect(ca).toEqual([...getCACertificates('default'), expect.stringContaining('BEGIN CERTIFICATE')]);
    expect(certificates.root).toContain(ca.at(-1));
    expect(ca.length).toBeGreaterThan(100);
  });

  scratchTest(
    'SEC-1: a certificate for another host is refused, whatever it is called and although its root is known',
    async (scratch, url) => {
      const caFile = file('root.pem', certificates.root);
      // The certificate names localhost and 127.0.0.1.
      const proxy = await Proxy.before(url('require'), '127.0.0.2');
      for (const mode of ['require', 'prefer', 'verify-ca', 'verify-full']) {
        const elsewhere = proxy.url.replace('sslmode=require', `sslmode=${mode}`);
        await expect(scratch.open({ url: elsewhere, caFile })).rejects.toMatchObject({
          code: 'misconfigured',
          message: expect.stringMatching(/^Postgres 127\.0\.0\.2:.* shows a certificate for another host/),
        });
      }
      const named = url('require').replace('127.0.0.1', 'localhost');
      expect(await (await scratch.open({ url: named, caFile })).opStore.head('s')).toBe(0n);
      await proxy.close();
    },
  );

  scratchTest(
    'OPS-2: a file of roots that is missing or holds none is refused with the setting and the path',
    async (scratch, url) => {
      const files = {
        'cannot be read \\(ENOENT\\)': path.join(folder, 'missing.pem'),
        'is no PEM file': file('text.pem', 'hello'),
        'holds no CERTIFICATE block': file('key.pem', certificates.server.key),
        'that is no certificate': file('broken.pem', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'),
      };
      for (const [why, caFile] of Object.entries(files)) {
        for (const mode of ['require', 'disable']) {
          await expect(scratch.open({ url: url(mode), caFile })).rejects.toMatchObject({
            code: 'misconfigured',
            message: expect.stringMatching(new RegExp(`^RELAY_PG_CA_FILE: ${caFile} .*${why}[^\n]*$`)),
          });
        }
      }
    },
  );
});

describe('a server that offers no TLS', () => {
  const plainTest = serverTests('postgres', () => ({ env: { ...process.env, DATABASE_URL: '' } }));

  plainTest(
    'SEC-1: require is refused, prefer goes on in plain text; a warning names a host that is not this one',
    async ({ endpoint }) => {
      const warnings: string[] = [];
      const options = {
        caFile: undefined,
        connectTimeoutMs: 10_000,
        warn: (message: string) => void warnings.push(message),
      };
      const decided = (mode: string, host?: string) => {
        const address = parseAddress(`${endpoint}?sslmode=${mode}`);
        return negotiateTls(host === undefined ? address : { ...address, host }, options);
      };
      expect(await decided('prefer')).toBe(false);
      expect(await decided('disable', 'db.example')).toBe(false);
      expect(await decided('require', 'db.example')).toMatchObject({ rejectUnauthorized: true });
      expect(warnings).toEqual([]);
      expect(await decided('prefer', 'db.example')).toBe(false);
      expect(warnings).toEqual([expect.stringMatching(/db\.example.*sslmode=require/)]);
      const scratch = new Scratch(endpoint);
      await expect(scratch.open({ url: `${endpoint}?sslmode=require` })).rejects.toMatchObject({ code: 'unavailable' });
    },
  );
});

describe('the URL', () => {
  it('OPS-2: what cannot be used is refused in one line without the password', () => {
    for (const [text, why] of [
      ['hello', /no URL/],
      ['mysql://u:secret@h/d', /postgres:\/\//],
      ['postgres://u:secret@h/d?sslmode=often', /sslmode/],
      ['postgres://u:secret@h/d?sslrootcert=/x', /sslrootcert/],
    ] as const) {
      expect(() => parseAddress(text)).toThrow(why);
      expect(() => parseAddress(text)).not.toThrow(/secret/);
    }
  });

  it('OPS-2: the database is named without user and password', () => {
    expect(parseAddress('postgres://u:secret@db.example:6432/d?sslmode=require')).toMatchObject({
      host: 'db.example',
      mode: 'require',
      where: 'Postgres db.example:6432/d',
    });
    expect(parseAddress('postgres:///d?host=/run/pg&sslmode=require')).toMatchObject({
      host: '/run/pg',
      mode: 'disable',
    });
  });
});
