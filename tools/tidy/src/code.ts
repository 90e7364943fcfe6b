import path from 'node:path';
import ts from 'typescript';
import type { SourceFile } from './tree.ts';

export const isCode = ({ path: name }: SourceFile) => name.endsWith('.ts');

/** The syntax tree of a file, so that comments and strings are never taken for code. */
export function parse(file: SourceFile): ts.SourceFile {
  return ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, true);
}

export function* nodesOf(node: ts.Node): Generator<ts.Node> {
  yield node;
  for (const child of node.getChildren()) yield* nodesOf(child);
}

export interface Import {
  /** What stands between the quotes. */
  readonly from: string;
  readonly position: number;
  readonly lazy: boolean;
  /** Erased when the code runs. */
  readonly typeOnly: boolean;
}

export function importsOf(file: SourceFile): Import[] {
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
}

function isTypeOnly(node: ts.ImportDeclaration | ts.ExportDeclaration): boolean {
  if (ts.isExportDeclaration(node)) return node.isTypeOnly;
  return node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
}

/** The folder of the package that a file of apps, libs or tools belongs to, such as libs/op-store/sql; null for other files. */
export function packageOf(file: SourceFile): string | null {
  return /^((?:apps|libs|tools)\/.+?)\/src\//.exec(file.path)?.[1] ?? null;
}

/** Paths of the files that run in production: what src/index.ts or src/main.ts of a package reaches. Tests and testing.ts are outside. */
export function productionPaths(files: readonly SourceFile[]): ReadonlySet<string> {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const reached = new Set<string>();
  const visit = (name: string): void => {
    const file = byPath.get(name);
    if (file === undefined || reached.has(name)) return;
    reached.add(name);
    for (const { from } of importsOf(file))
      if (from.startsWith('.')) visit(path.posix.join(path.posix.dirname(name), from));
  };
  for (const { path: name } of files) if (/\/src\/(index|main)\.ts$/.test(name)) visit(name);
  return reached;
}
