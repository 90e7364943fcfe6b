import path from 'node:path';
import { type TitledTest, titledTests } from './guarantees.ts';
import { type SourceFile, type Violation, at } from './tree.ts';

/**
 * A defect that a test must notice, written above it as `// kills: FILE: FROM => TO`: FROM, which stands once in that file beside the
 * test, becomes TO. mutants.long.spec.ts makes each change and expects that test to fail.
 */
export interface SourceMutant {
  readonly test: TitledTest;
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const FORM = /^(\S+\.\w+): (.+) => (.*)$/;

export function sourceMutants(files: readonly SourceFile[]): SourceMutant[] {
  return comments(files).flatMap((test) => {
    const [, name, from, to] = FORM.exec(test.kills ?? '') ?? [];
    if (name === undefined || from === undefined || to === undefined) return [];
    return [{ test, file: path.posix.join(path.posix.dirname(test.file.path), name), from, to }];
  });
}

/** Such a comment can be carried out: it has the form, and what it changes is there, once. */
export function mutantRules(files: readonly SourceFile[]): Violation[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const formless = comments(files)
    .filter(({ kills }) => !FORM.test(kills ?? ''))
    .map((test) => at(test.file, test.position, `kills: ${test.kills} is not of the form FILE: FROM => TO`));
  const lost = sourceMutants(files).flatMap(({ test, file, from }) => {
    const times = (byPath.get(file)?.text.split(from).length ?? 1) - 1;
    return times === 1 ? [] : [at(test.file, test.position, `${from} stands ${times} times in ${file}`)];
  });
  return [...formless, ...lost];
}

const comments = (files: readonly SourceFile[]) =>
  titledTests(files).filter(({ from, kills }) => from === 'call' && kills !== null);
