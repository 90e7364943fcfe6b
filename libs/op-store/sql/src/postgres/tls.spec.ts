import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Proxy } from '@tidemark/libs-driver-postgres/testing';
import { type Certificates, makeCertificates, serverTests } from '@tidemark/tools-services/testing';
import { Scratch } from './scratch.ts';

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
});
