// npm run bench [-- NAME [--quick]]: runs a benchmark of tools/bench; without a name it lists them.
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { underNode24 } from './node24.mjs';
import { root } from './paths.mjs';
import { Problem, say } from './terminal.mjs';

const folder = path.join(root, 'tools', 'bench', 'src');

await underNode24(fileURLToPath(import.meta.url), async ([name, ...rest]) => {
  const names = readdirSync(folder)
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
    .map((file) => path.basename(file, '.ts'));
  if (name === undefined || name === '--help') {
    say(`npm run bench -- NAME [--quick]\n\n${names.map((one) => `  ${one}`).join('\n')}`);
    return 0;
  }
  if (!names.includes(name)) throw new Problem(`no benchmark ${name}; there are: ${names.join(', ')}`);
  const child = spawn(process.execPath, [path.join(folder, `${name}.ts`), ...rest], { cwd: root, stdio: 'inherit' });
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
});
