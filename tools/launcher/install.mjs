import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { root } from './paths.mjs';
import { Problem, progressBar, say } from './terminal.mjs';

const COMPLAINT_LINES_MAX = 8;

/** Runs `npm ci` when node_modules is not what the lockfile says. No install script runs: nothing needs a compiler or python. */
export async function installWhatIsMissing() {
  if (installed()) return;
  const startedMs = Date.now();
  await npmCi();
  say(`installed in ${Math.round((Date.now() - startedMs) / 1000)} s`);
}

/** npm writes what it installed into a lockfile of its own inside node_modules, at the very end of an installation. */
function installed() {
  const hidden = path.join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(hidden)) return false;
  const there = packagesOf(hidden);
  return Object.entries(wanted()).every(([folder, { version, link, optional }]) => {
    if (link) return existsSync(path.join(root, folder));
    return there[folder] === undefined ? optional === true : there[folder].version === version;
  });
}

const packagesOf = (lockFile) => JSON.parse(readFileSync(lockFile, 'utf8')).packages;

function wanted() {
  const packages = Object.entries(packagesOf(path.join(root, 'package-lock.json')));
  return Object.fromEntries(packages.filter(([folder]) => folder.includes('node_modules/')));
}

async function npmCi() {
  // Optional packages of other platforms stay absent by design; they are not waited for.
  const folders = Object.entries(wanted()).flatMap(([folder, { os, cpu }]) =>
    fits(os, process.platform) && fits(cpu, process.arch) ? [folder] : [],
  );
  say('installing dependencies (npm ci)');
  const bar = progressBar('packages', folders.length);
  const there = () => folders.filter((folder) => existsSync(path.join(root, folder, 'package.json'))).length;
  const looking = setInterval(() => bar.at(there()), 1000);
  const { code, output } = await runNpm([
    'ci',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ]).finally(() => clearInterval(looking));
  bar.end(there());
  if (code === 0) return;
  const complaint = output.split('\n').filter((line) => line.replace('npm error', '').trim() !== '');
  throw new Problem(`npm ci failed (exit code ${code}):\n${complaint.slice(0, COMPLAINT_LINES_MAX).join('\n')}`);
}

const fits = (names, own) => names === undefined || names.includes(own);

function runNpm(args) {
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const child = spawn(npm, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new Problem(`npm cannot be started: ${error.message}`)));
    child.once('close', (code) => resolve({ code, output }));
  });
}
