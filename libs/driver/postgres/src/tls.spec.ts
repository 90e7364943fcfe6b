import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type ConnectionOptions, getCACertificates } from 'node:tls';
import { type Certificates, makeCertificates, serverTests } from '@tidemark/tools-services/testing';
import { parseAddress } from './address.ts';
import { mapError } from './map-error.ts';
import { openPool } from './open-pool.ts';
import { USE } from './spec-database.ts';
import { negotiateTls } from './tls.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'tidemark-tls-'));
afterAll(() => rmSync(folder, { recursive: true }));

let certificates: Certificates;
beforeAll(async () => {
  certificates = await makeCertificates();
});

const OPTIONS = { use: USE, connectTimeoutMs: 10_000, warn: () => {} };
const ANYWHERE = 'postgres://u@db.example:5432/d';

function file(name: string, text: string): string {
  const full = path.join(folder, name);
  writeFileSync(full, text);
  return full;
}

describe('roots of a file', () => {
  it('SEC-1: are trusted beside those that come with Node, not instead', async () => {
    const caFile = file('root.pem', certificates.root);
    const tls = await negotiateTls(parseAddress(`${ANYWHERE}?sslmode=require`), { ...OPTIONS, caFile });
    const { ca } = tls as { ca: string[] };
    expect(ca).toEqual([...getCACertificates('default'), expect.stringContaining('BEGIN CERTIFICATE')]);
    expect(certificates.root).toContain(ca.at(-1));
    expect(ca.length).toBeGreaterThan(100);
  });

  it('OPS-2: a file that is missing or holds none is refused with the setting and the path', async () => {
    const files = {
      'cannot be read \\(ENOENT\\)': path.join(folder, 'missing.pem'),
      'is no PEM file': file('text.pem', 'hello'),
      'holds no CERTIFICATE block': file('key.pem', certificates.server.key),
      'that is no certificate': file('broken.pem', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'),
    };
    for (const [why, caFile] of Object.entries(files)) {
      for (const mode of ['require', 'disable']) {
        const refused = negotiateTls(parseAddress(`${ANYWHERE}?sslmode=${mode}`), { ...OPTIONS, caFile });
        await expect(refused).rejects.toMatchObject({
          code: 'misconfigured',
          message: expect.stringMatching(new RegExp(`^SPEC_CA_FILE: ${caFile} .*${why}[^\n]*$`)),
        });
      }
    }
  });
});

describe('a server that offers no TLS', () => {
  const plainTest = serverTests('postgres', () => ({ env: { ...process.env, DATABASE_URL: '' } }));

  plainTest(
    'SEC-1: require is refused, prefer goes on in plain text; a warning names a host that is not this one',
    async ({ endpoint }) => {
      const warnings: string[] = [];
      const options = {
        use: USE,
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
      const tls = (await decided('require')) as ConnectionOptions;
      const opened = openPool(parseAddress(endpoint), tls, { use: USE, poolMax: 1, acquireTimeoutMs: 10_000 });
      const refused = await opened.catch((thrown) => mapError(thrown, 'Postgres', USE));
      expect(refused).toMatchObject({ code: 'unavailable' });
    },
  );
});
