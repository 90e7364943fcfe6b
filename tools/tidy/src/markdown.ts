import path from 'node:path';
import { type SourceFile, type Violation, at } from './tree.ts';

const LINK = /\[[^\]]*\]\(([^)\s]+)\)/g;

/** No link of a Markdown file leads nowhere, and every document can be reached from the README. */
export function markdownRules(files: readonly SourceFile[], exists: (name: string) => boolean): Violation[] {
  const documents = new Map(files.filter(({ path: name }) => name.endsWith('.md')).map((file) => [file.path, file]));
  const dead = [...documents.values()].flatMap((file) =>
    linksOf(file).flatMap(({ target, anchor, position }) => {
      if (target !== '' && !exists(target)) return [at(file, position, `no file ${target}`)];
      const document = documents.get(target);
      if (anchor === '' || document === undefined || anchorsOf(document).has(anchor)) return [];
      return [at(file, position, `${target} has no heading #${anchor}`)];
    }),
  );
  return [...dead, ...unreachable(documents)];
}

interface Link {
  /** Relative to the root; empty for a link out of the repository. */
  readonly target: string;
  readonly anchor: string;
  readonly position: number;
}

function linksOf(file: SourceFile): Link[] {
  const text = file.text.replace(/```[\s\S]*?```/g, (block) => ' '.repeat(block.length));
  return [...text.matchAll(LINK)].flatMap((match) => {
    const href = match[1] ?? '';
    if (/^[a-z]+:/.test(href)) return [];
    const [name = '', anchor = ''] = href.split('#');
    const target = name === '' ? file.path : path.posix.join(path.posix.dirname(file.path), name);
    return [{ target: target.replace(/\/$/, ''), anchor, position: match.index }];
  });
}

/** Headings as the usual renderers name them. */
function anchorsOf({ text }: SourceFile): Set<string> {
  const headings = [...text.matchAll(/^#+ +(.+)$/gm)].map(([, title = '']) => title);
  return new Set(
    headings.map((title) =>
      title
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  );
}

function unreachable(documents: ReadonlyMap<string, SourceFile>): Violation[] {
  const reached = new Set<string>();
  const visit = (name: string): void => {
    const file = documents.get(name);
    if (file === undefined || reached.has(name)) return;
    reached.add(name);
    for (const { target } of linksOf(file)) visit(target);
  };
  visit('README.md');
  return [...documents.keys()]
    .filter((name) => !reached.has(name))
    .map((name) => `${name}: no link leads here from README.md`);
}
