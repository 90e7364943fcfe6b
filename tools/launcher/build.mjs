// node tools/launcher/build.mjs apps/relay -> dist/apps/relay: main.js, chunks, maps, package.json and package-lock.json,
// ready for `npm ci --omit=dev` and `node main.js`.
import { builtinModules, createRequire } from 'node:module';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { bundle } from './bundle.mjs';
import { outDir, root } from './paths.mjs';

const project = process.argv[2];
await rm(outDir(project), { recursive: true, force: true });
const chunks = await bundle(project);

const readJson = async (file) => JSON.parse(await readFile(path.join(root, file), 'utf8'));
const rootPackage = await readJson('package.json');
const lock = await readJson('package-lock.json');
const app = await readJson(`${project}/package.json`);

const packageName = (id) =>
  id
    .split('/')
    .slice(0, id.startsWith('@') ? 2 : 1)
    .join('/');
const imported = chunks.flatMap((chunk) => [...(chunk.imports ?? []), ...(chunk.dynamicImports ?? [])]);
const files = new Set(chunks.map((chunk) => chunk.fileName));
const external = imported.filter((id) => !files.has(id) && !id.startsWith('node:') && !builtinModules.includes(id));
const dependencies = {};
// runtimeOnly: packages that other packages load by name at run time.
for (const name of [...new Set([...external.map(packageName), ...(app.runtimeOnly ?? [])])].sort()) {
  const entry = lock.packages[`node_modules/${name}`];
  if (entry === undefined || entry.dev)
    throw new Error(`${project} needs ${name}, which is no dependency of the root package.json`);
  dependencies[name] = entry.version;
}

const manifest = {
  name: app.name,
  version: app.version,
  private: true,
  license: rootPackage.license,
  type: 'module',
  main: 'main.js',
  engines: { node: '>=24.9' },
  dependencies,
  allowScripts: rootPackage.allowScripts,
};
if (dependencies.typeorm) manifest.overrides = { typeorm: { 'better-sqlite3': dependencies['better-sqlite3'] } };
await writeFile(path.join(outDir(project), 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);

process.env.NX_DAEMON = 'false';
const require = createRequire(import.meta.url);
const graph = await require('@nx/devkit').createProjectGraphAsync({ exitOnError: true });
await writeFile(
  path.join(outDir(project), 'package-lock.json'),
  require('@nx/js').createLockFile(manifest, graph, 'npm'),
);
console.log(`${project}: ${chunks.length} files, ${Object.keys(dependencies).length} direct dependencies`);
process.exit(0);
