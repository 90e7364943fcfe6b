import path from 'node:path';
import ts from 'typescript';
import type { SourceFile } from './tree.ts';

export const isCode = ({ path: name }: SourceFile) => name.endsWith('.ts');

/** The syntax tree of a file, so that comments and strings are never taken for code. */
export const parse = remembered((file: SourceFile) =>
  ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, true),
);

export function* nodesOf(node: ts.Node): Generator<ts.Node> {
  yield node;
  const children: ts.Node[] = [];
  ts.forEachChild(node, (child) => void children.push(child));
  for (const child of children) yield* nodesOf(child);
}

export interface Import {
  /** What stands between the quotes. */
  readonly from: string;
  readonly position: number;
  readonly lazy: boolean;
  /** Erased when the code runs. */
  readonly typeOnly: boolean;
}

export const importsOf = remembered((file: SourceFile): readonly Import[] => {
  const found: Import[] = [];
  for (const node of nodesOf(parse(file))) {
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier !== undefined) {
      const from = (node.moduleSpecifier as ts.StringLiteral).text;
      found.push({ from, position: node.getStart(), lazy: false, typeOnly: isTypeOnly(node) });
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [argument] = node.arguments;
      const from = argument !== undefined && ts.isStringLiteral(argument) ? argument.text : '';
      found.push({ from, position: node.getStart(), lazy: true, typeOnly: false });
    }
  }
  return found;
});

function isTypeOnly(node: ts.ImportDeclaration | ts.ExportDeclaration): boolean {
  if (ts.isExportDeclaration(node)) return node.isTypeOnly;
  return node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
}

/** The folder of the package that a file of apps, libs or tools belongs to, such as libs/op-store/sql; null for other files. */
export function packageOf(file: SourceFile): string | null {
  return /^((?:apps|libs|tools)\/.+?)\/src\//.exec(file.path)?.[1] ?? null;
}

/** Files that Jest runs, or that those start by their path. */
export const isTest = ({ path: name }: SourceFile) => /\.(spec|spec-child)\.ts$/.test(name);

/** What tests alone import: a package's testing.ts. */
const isTestSupport = (name: string) => /\/src\/testing\.ts$/.test(name);

/**
 * Paths of the files that run in production: what src/index.ts or src/main.ts of a package reaches, and what nothing reaches
 * (it may be started by its path). Outside are tests, testing.ts, and what only those import.
 */
export const productionPaths = remembered((files: readonly SourceFile[]): ReadonlySet<string> => {
  const code = files.filter((file) => isCode(file) && packageOf(file) !== null);
  const entries = code.filter(({ path: name }) => /\/src\/(index|main)\.ts$/.test(name));
  const shipped = reach(code, entries);
  const tested = reach(
    code,
    code.filter((file) => isTest(file) || isTestSupport(file.path)),
  );
  return new Set(code.map(({ path: name }) => name).filter((name) => shipped.has(name) || !tested.has(name)));
});

function reach(code: readonly SourceFile[], entries: readonly SourceFile[]): ReadonlySet<string> {
  const byPath = new Map(code.map((file) => [file.path, file]));
  const reached = new Set<string>();
  const visit = (name: string): void => {
    const file = byPath.get(name);
    if (file === undefined || reached.has(name)) return;
    reached.add(name);
    for (const { from } of importsOf(file))
      if (from.startsWith('.')) visit(path.posix.join(path.posix.dirname(name), from));
  };
  for (const { path: name } of entries) visit(name);
  return reached;
}

/** Several rules ask the same of the same files. */
function remembered<Asked extends object, Answer>(answer: (asked: Asked) => Answer): (asked: Asked) => Answer {
  const known = new WeakMap<Asked, Answer>();
  return (asked) => {
    const found = known.get(asked) ?? answer(asked);
    known.set(asked, found);
    return found;
  };
}
