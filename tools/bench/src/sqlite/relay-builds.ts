import path from 'node:path';
import { rolldown } from 'rolldown';

const root = path.resolve(import.meta.dirname, '../../../..');
const STORE = '@tidemark/libs-op-store-sql';

/** Bundles the relay as it is deployed, but for the file that stands in for its SQLite adapter; answers the entry. */
export async function buildRelay(name: string, standIn: string | null): Promise<string> {
  const { input, output } = await import(path.join(root, 'tools/launcher/bundle.mjs'));
  const options = input('apps/relay');
  const store = {
    name: 'store',
    resolveId: (id: string, importer?: string) =>
      standIn !== null && id === STORE && importer?.endsWith('/wiring.ts')
        ? path.join(import.meta.dirname, standIn)
        : null,
  };
  const build = await rolldown({ ...options, plugins: [...options.plugins, store] });
  const dir = path.join(root, 'dist', `bench-relay-${name}`);
  await build.write({ ...output('apps/relay'), dir });
  await build.close();
  return path.join(dir, 'main.js');
}
