import ts from 'typescript';
import { isCode, nodesOf, parse, productionPaths } from './code.ts';
import type { SourceFile, Violation } from './tree.ts';

const LEDGER = 'docs/guarantees.md';
const ID = /\b(?:RLY|ING|DDP|BRK|FLD|OPS|SEC)-\d+b?\b/g;

/** A test, by its title, and what breaks it: the mutant that it kills, or null. */
export interface TitledTest {
  readonly title: string;
  readonly kills: string | null;
  /** A call of the test runner, or an object of a list of cases. */
  readonly from: 'call' | 'case';
  readonly file: SourceFile;
  readonly position: number;
}

/**
 * Every guarantee that docs/guarantees.md calls built has a test whose title carries its id, and such a test names the mutant that it
 * kills: a conformance case in `kills`, another test in a comment just above it (mutants.ts has its form).
 * A title that carries an id which the ledger does not know is a slip of the pen.
 */
export function guaranteeRules(files: readonly SourceFile[]): Violation[] {
  const ledger = states(files);
  const tests = titledTests(files);
  const idsOf = ({ title }: TitledTest): readonly string[] => title.match(ID) ?? [];
  const strangers = tests.flatMap((test) =>
    idsOf(test)
      .filter((id) => !ledger.has(id))
      .map((id) => `test "${test.title}": ${id} is not in ${LEDGER}`),
  );
  const built = [...ledger].filter(([, state]) => state === 'built').map(([id]) => id);
  const unproved = built.flatMap((id) => {
    const own = tests.filter((test) => idsOf(test).includes(id));
    if (own.length === 0) return [`${LEDGER}: ${id} is called built, and no test carries it`];
    return own.some(({ kills }) => kills !== null)
      ? []
      : [`${LEDGER}: ${id} is called built, and none of its tests names a mutant that it kills`];
  });
  return [...strangers, ...unproved];
}

function states(files: readonly SourceFile[]): Map<string, string> {
  const rows = [
    ...(files.find(({ path }) => path === LEDGER)?.text ?? '').matchAll(/^\| *([A-Z]+-\d+b?) *\|.*\| *(\w+) *\|$/gm),
  ];
  return new Map(rows.map(([, id = '', state = '']) => [id, state]));
}

/** Calls of test and it, and object literals with a title, outside production code. */
export function titledTests(files: readonly SourceFile[]): TitledTest[] {
  const production = productionPaths(files);
  return files
    .filter((file) => isCode(file) && !production.has(file.path))
    .flatMap((file) => [...nodesOf(parse(file))].flatMap((node) => caseOf(node, file) ?? callOf(node, file) ?? []));
}

function caseOf(node: ts.Node, file: SourceFile): TitledTest | null {
  if (!ts.isObjectLiteralExpression(node)) return null;
  const member = (name: string) =>
    node.properties.find((one) => ts.isPropertyAssignment(one) && one.name.getText() === name) as
      ts.PropertyAssignment | undefined;
  const title = member('title');
  if (title === undefined) return null;
  const kills = member('kills')?.initializer.getText() ?? null;
  return { title: title.initializer.getText(), kills, from: 'case', file, position: node.getStart() };
}

function callOf(node: ts.Node, file: SourceFile): TitledTest | null {
  if (!ts.isCallExpression(node) || !/^(test|it|\w+Test|with\w+)\b/.test(node.expression.getText())) return null;
  const title = node.arguments[0];
  if (title === undefined || !(ts.isStringLiteral(title) || ts.isTemplateLiteral(title))) return null;
  const kills =
    /^\s*\/\/ kills: (.+)$/m.exec(file.text.slice(node.getFullStart(), node.getStart()))?.[1]?.trim() ?? null;
  return { title: title.getText(), kills, from: 'call', file, position: node.getStart() };
}
