import type { SourceFile, Violation } from './tree.ts';

/** Which tag a folder must carry; the first that fits decides. */
const TAGS: readonly (readonly [RegExp, string])[] = [
  [/^apps\/[^/]+$/, 'app'],
  [/^tools\/services$/, 'servers'],
  [/^tools\/[^/]+$/, 'tool'],
  [/^libs\/kernel$/, 'kernel'],
  [/^libs\/wire$/, 'wire'],
  [/^libs\/client$/, 'client'],
  [/^libs\/service-kit$/, 'kit'],
  [/^libs\/driver\/[^/]+$/, 'driver'],
  [/^libs\/[^/]+\/contract$/, 'contract'],
  [/^libs\/[^/]+\/[^/]+$/, 'adapter'],
  [/^libs\/[^/]+$/, 'flow'],
];

interface Manifest {
  readonly name?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  /** Packages that are loaded by name at run time, so that no import tells the bundler of them. */
  readonly runtimeOnly?: readonly string[];
  readonly nx?: { readonly tags?: readonly string[] };
}

/** A package is named by its path and tagged by its place; an app names what it needs at run time beside its imports. */
export function packageRules(files: readonly SourceFile[]): Violation[] {
  return files.flatMap((file) => {
    const folder = /^((?:apps|libs|tools)\/.+)\/package\.json$/.exec(file.path)?.[1];
    if (folder === undefined) return [];
    const { name, nx, dependencies = {}, runtimeOnly = [] } = JSON.parse(file.text) as Manifest;
    const wanted = { name: `@tidemark/${folder.replaceAll('/', '-')}`, tag: `type:${tagOf(folder)}` };
    const found: Violation[] = [];
    if (name !== wanted.name) found.push(`${file.path}: must be named ${wanted.name}, not ${name}`);
    if (nx?.tags?.join() !== wanted.tag)
      found.push(`${file.path}: must have the one tag ${wanted.tag}, not ${nx?.tags?.join() ?? 'none'}`);
    // TypeORM loads its driver by name.
    if (wanted.tag === 'type:app' && Object.keys(dependencies).some((one) => one.endsWith('-sql')))
      if (!runtimeOnly.includes('better-sqlite3')) found.push(`${file.path}: runtimeOnly must name better-sqlite3`);
    return found;
  });
}

const tagOf = (folder: string) => TAGS.find(([place]) => place.test(folder))?.[1] ?? 'unknown place';
