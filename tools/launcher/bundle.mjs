import path from 'node:path';
import { outDir, root } from './paths.mjs';

// rolldown's own helpers must not stay outside the bundle.
const ours = /^(\.|\/|@tidemark\/|@oxc-project\/runtime)/;

/** Our own code becomes one bundle per app; packages of the registry stay packages. */
export const input = (project) => ({
  input: path.join(root, project, 'src/main.ts'),
  cwd: path.join(root, project),
  platform: 'node',
  tsconfig: path.join(root, 'tsconfig.json'),
  resolve: { conditionNames: ['@tidemark/source', 'node', 'import', 'default'] },
  external: (id) => !ours.test(id),
  transform: { target: 'node24' },
});

/** Adapters are imported lazily, so each stays a chunk of its own and is loaded only when its setting asks for it. */
export const output = (project) => ({
  dir: outDir(project),
  format: 'esm',
  entryFileNames: 'main.js',
  chunkFileNames: '[name].js',
  sourcemap: true,
  keepNames: true,
});
