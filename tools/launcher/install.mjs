import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root } from './paths.mjs';
import { Problem, progressBar, say } from './terminal.mjs';

const lockFile = path.join(root, 'package-lock.json');
const stampFile = path.join(root, 'node_modules', '.tidemark-installed');

/** Runs `npm ci` when node_modules is not what the lockfile says. No install script runs: nothing needs a compiler or python. */
export async function installWhatIsMissing() {
  const wanted = createHash('sha256').update(readFileSync(lockFile)).digest('hex');
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === wanted) return;
  const startedMs = Date.now();
  await npmCi();
  writeFileSync(stampFile, wanted);
  say(`installed in ${Math.round((Date.now() - startedMs) / 1000)} s`);
}

async function npmCi() {
  const folders = Object.keys(JSON.parse(readFileSync(lockFile, 'utf8')).packages).filter((key) =>
    key.startsWith('node_modules/'),
  );
  say('installing dependencies (npm ci)');
  const bar = progressBar('packages', folders.length);
  const there = () => folders.filter((folder) => existsSync(path.join(root, folder, 'package.json'))).length;
  // The old tree is removed first, so the count falls before it rises.
  const looking = setInterval(() => bar.at(there()), 1000);
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const child = spawn(npm, ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  const code = await new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new Problem(`npm cannot be started: ${error.message}`)));
    child.once('close', resolve);
  }).finally(() => clearInterval(looking));
  // Packages for other platforms stay absent by design.
  bar.end(there());
  if (code !== 0) throw new Problem(`npm ci failed (exit code ${code}):\n${output.trim()}`);
}
