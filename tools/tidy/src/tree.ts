import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** A text file of the repository; its path is relative to the root, with `/`. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** One broken rule, as one line that an editor can jump to. */
export type Violation = string;

const root = path.resolve(import.meta.dirname, '../../..');
const TEXT = /\.(ts|mjs|cjs|json|md|ya?ml|conf)$|(^|\/)(Dockerfile|LICENSE|run|\.[\w-]+)$/;

/** What is committed or would be: everything that git does not ignore. */
export function repository(): SourceFile[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
  });
  const paths = [...new Set(listed.split('\0'))].filter((name) => TEXT.test(name) && existsSync(path.join(root, name)));
  return paths.sort().map((name) => ({ path: name, text: readFileSync(path.join(root, name), 'utf8') }));
}

export const at = (file: SourceFile, position: number, what: string): Violation =>
  `${file.path}:${file.text.slice(0, position).split('\n').length}: ${what}`;
