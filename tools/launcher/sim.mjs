// npm run sim [-- --seeds N --seed S --case NAME]: runs the simulator of tools/sim.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { underNode24 } from './node24.mjs';
import { root } from './paths.mjs';

await underNode24(fileURLToPath(import.meta.url), (args) => {
  const main = path.join(root, 'tools', 'sim', 'src', 'main.ts');
  const child = spawn(process.execPath, [main, ...args], { cwd: root, stdio: 'inherit' });
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
});
