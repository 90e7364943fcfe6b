import type { SourceFile, Violation } from './tree.ts';

/** Every package that the root asks for has a row in docs/dependencies.md, with an exact version in package.json; and no row is left over. */
export function dependencyRules(files: readonly SourceFile[]): Violation[] {
  const manifest = JSON.parse(textOf(files, 'package.json')) as Record<string, Record<string, string> | undefined>;
  const wanted = Object.entries({
    ...manifest.dependencies,
    ...manifest.devDependencies,
    ...manifest.optionalDependencies,
  });
  const rows = new Set([...textOf(files, 'docs/dependencies.md').matchAll(/^\| *`([^`]+)`/gm)].map(([, name]) => name));
  const missing = wanted
    .filter(([name]) => !rows.has(name))
    .map(([name]) => `docs/dependencies.md: no row for ${name}`);
  const left = [...rows]
    .filter((name) => !wanted.some(([one]) => one === name))
    .map((name) => `docs/dependencies.md: ${name} is no dependency`);
  const loose = wanted
    .filter(([, version]) => !/^\d+\.\d+\.\d+/.test(version))
    .map(([name, version]) => `package.json: ${name} has no exact version (${version})`);
  return [...missing, ...left, ...loose];
}

function textOf(files: readonly SourceFile[], path: string): string {
  const file = files.find((one) => one.path === path);
  if (file === undefined) throw new Error(`${path} is missing`);
  return file.text;
}
