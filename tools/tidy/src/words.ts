import { type SourceFile, type Violation, at } from './tree.ts';

/** Names that belong to one machine or one host, never into the repository. Written in parts, so that this file does not hold them. */
const NEVER: readonly (readonly [RegExp, string])[] = [
  [new RegExp(['registry', 'npmjs', 'org'].join('\\.')), 'the host of a package registry'],
  [new RegExp(['deb', 'debian', 'org'].join('\\.')), 'the host of a package registry'],
  [new RegExp(`"${'resolved'}": "http`), 'the host of a package registry'],
  [new RegExp(`/${'work'}/`), "a path of somebody's machine"],
  [new RegExp(`/${'home'}/(?!node\\b)`), "a path of somebody's machine"],
];

/** The two places that know where the shared test data lies. */
const SHARED = /\.\.\/shared\//;
const SHARED_HOME = /^(libs\/kernel\/src\/shared-data\.ts|\.ci\/run|tools\/tidy\/src\/words\.ts)$/;

export function wordRules(files: readonly SourceFile[]): Violation[] {
  return files.flatMap((file) => {
    const found = NEVER.flatMap(([word, what]) =>
      word.test(file.text) ? [at(file, file.text.search(word), what)] : [],
    );
    const shared = SHARED.test(file.text) && !SHARED_HOME.test(file.path);
    return shared ? [...found, at(file, file.text.search(SHARED), 'the folder of the shared test data')] : found;
  });
}
