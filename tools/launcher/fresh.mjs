import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { apps, outDir, root } from './paths.mjs';

const stampFile = path.join(root, 'dist', '.bundled');

/** Runs `build` when a source is not what it was at the last build, by name, size and time of change. */
export async function bundleWhenStale(build) {
  const now = fingerprint();
  if (apps.every((app) => existsSync(path.join(outDir(`apps/${app}`), 'main.js'))) && read(stampFile) === now) return;
  await build();
  writeFileSync(stampFile, now);
}

function fingerprint() {
  const hash = createHash('sha256');
  for (const file of [
    ...sources('apps'),
    ...sources('libs'),
    ...sources('tools/launcher'),
    'package-lock.json',
    'tsconfig.base.json',
  ]) {
    const { size, mtimeMs } = statSync(path.join(root, file));
    hash.update(`${file} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex');
}

function sources(folder) {
  const names = readdirSync(path.join(root, folder), { recursive: true }).map((name) => path.join(folder, name));
  return names.filter((name) => /\.(ts|mjs|json)$/.test(name) && !/\.spec\.ts$|node_modules/.test(name)).sort();
}

const read = (file) => (existsSync(file) ? readFileSync(file, 'utf8') : null);
