import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { rolldown } from 'rolldown';
import { outDir, root } from './paths.mjs';

// rolldown's own helpers must not stay outside the bundle.
const ours = /^(\.|\/|@tidemark\/|@oxc-project\/runtime)/;

const thread = /new URL\('(\.\/[\w-]+-thread\.ts)', import\.meta\.url\)/g;

/** A file that is started as a thread, `new Worker(new URL('./x-thread.ts', import.meta.url))`, becomes a chunk of its own. */
const threads = {
  name: 'threads',
  transform(text, id) {
    const code = text.replace(thread, (_, file) => {
      const chunk = this.emitFile({ type: 'chunk', id: path.join(path.dirname(id), file) });
      return `new URL(import.meta.ROLLUP_FILE_URL_${chunk})`;
    });
    // No line moves, so the old source map is right.
    return code === text ? null : { code, map: null };
  },
};

/** Our own code becomes one bundle per app; packages of the registry stay packages. */
export const input = (project) => ({
  input: path.join(root, project, 'src/main.ts'),
  cwd: path.join(root, project),
  platform: 'node',
  tsconfig: path.join(root, 'tsconfig.json'),
  resolve: { conditionNames: ['@tidemark/source', 'node', 'import', 'default'] },
  external: (id) => !ours.test(id),
  plugins: [threads],
  transform: { target: 'node24' },
});

/** libs/op-store/sql/src/index.ts -> op-store-sql */
const packageOf = (file) => /libs\/(.+)\/src\/index\.ts$/.exec(file ?? '')?.[1].replaceAll('/', '-');

/** Adapters are imported lazily, so each stays a chunk of its own and is loaded only when its setting asks for it. */
export const output = (project) => ({
  dir: outDir(project),
  format: 'esm',
  entryFileNames: 'main.js',
  chunkFileNames: ({ facadeModuleId, name }) => `${packageOf(facadeModuleId) ?? name}.js`,
  sourcemap: true,
  keepNames: true,
});

/**
 * Bundles an app into its dist folder. A file that would not change is left alone, and another one is replaced in one step: apps
 * that run from the folder right now, and launchers beside this one, never see half a file.
 */
export async function bundle(project) {
  const build = await rolldown(input(project));
  const { output: files } = await build.generate(output(project));
  await build.close();
  await mkdir(outDir(project), { recursive: true });
  for (const file of files)
    await replace(path.join(outDir(project), file.fileName), file.type === 'chunk' ? file.code : file.source);
  return files.filter(({ type }) => type === 'chunk');
}

async function replace(file, text) {
  const old = await readFile(file, 'utf8').catch(() => null);
  if (old === text) return;
  const fresh = `${file}.${process.pid}`;
  await writeFile(fresh, text);
  await rename(fresh, file);
}
