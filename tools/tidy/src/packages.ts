import type { SourceFile, Violation } from './tree.ts';

/** Which tag a folder must carry; the first that fits decides. */
const TAGS: readonly (readonly [RegExp, string])[] = [
  [/^apps\/[^/]+$/, 'app'],
  [/^tools\/[^/]+$/, 'tool'],
  [/^libs\/kernel$/, 'kernel'],
  [/^libs\/wire$/, 'wire'],
  [/^libs\/client$/, 'client'],
  [/^libs\/service-kit$/, 'kit'],
  [/^libs\/[^/]+\/contract$/, 'contract'],
  [/^libs\/[^/]+\/[^/]+$/, 'adapter'],
  [/^libs\/[^/]+$/, 'flow'],
];

/** A package is named by its path and tagged by its place. */
export function packageRules(files: readonly SourceFile[]): Violation[] {
  return files.flatMap((file) => {
    const folder = /^((?:apps|libs|tools)\/.+)\/package\.json$/.exec(file.path)?.[1];
    if (folder === undefined) return [];
    const { name, nx } = JSON.parse(file.text) as { name?: string; nx?: { tags?: string[] } };
    const wanted = { name: `@tidemark/${folder.replaceAll('/', '-')}`, tag: `type:${tagOf(folder)}` };
    const found: Violation[] = [];
    if (name !== wanted.name) found.push(`${file.path}: must be named ${wanted.name}, not ${name}`);
    if (nx?.tags?.join() !== wanted.tag)
      found.push(`${file.path}: must have the one tag ${wanted.tag}, not ${nx?.tags?.join() ?? 'none'}`);
    return found;
  });
}

const tagOf = (folder: string) => TAGS.find(([place]) => place.test(folder))?.[1] ?? 'unknown place';
