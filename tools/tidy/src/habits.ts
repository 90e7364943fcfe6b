import ts from 'typescript';
import { isCode, isTest, nodesOf, parse } from './code.ts';
import { type SourceFile, type Violation, at } from './tree.ts';

/** Names that say nothing, at the end of a type's or a file's; and the prefix of an interface that says what it is. */
const EMPTY_NAME = /^I[A-Z][a-z]|(Impl|Base|Manager|Helpers?|Utils?)$/;
const EMPTY_FILE = /(^|[/-])(impl|base|manager|helpers?|utils?|common|misc)(\.[\w-]+)*\.(ts|mjs|cjs)$/;

/** Written in parts, so that this file does not hold the words. */
const LATER = new RegExp(`\\b(${['TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X'].join('|')})\\b`);

/** Nothing is put off, no test is left out in silence, and no name is empty. */
export function habitRules(files: readonly SourceFile[]): Violation[] {
  return files.filter((file) => /\.(ts|mjs|cjs)$/.test(file.path)).flatMap((file) => [...words(file), ...nodes(file)]);
}

function words(file: SourceFile): Violation[] {
  const later = LATER.exec(file.text);
  return [
    ...(later === null ? [] : [at(file, later.index, `${later[0]}: do it, or leave it out`)]),
    ...(EMPTY_FILE.test(file.path) ? [at(file, 0, 'the name says nothing about what is inside')] : []),
  ];
}

function nodes(file: SourceFile): Violation[] {
  if (!isCode(file)) return [];
  return [...nodesOf(parse(file))].flatMap((node) => {
    const name = declaredType(node);
    if (name !== null && EMPTY_NAME.test(name)) return [at(file, node.getStart(), `${name} is an empty name`)];
    const left = isTest(file) ? leftOut(node) : null;
    return left === null ? [] : [at(file, node.getStart(), left)];
  });
}

function declaredType(node: ts.Node): string | null {
  const declares = ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node);
  return declares ? (node.name?.text ?? null) : null;
}

/** `test.skip` as a value is a choice that the code makes and explains; called by itself it is a test that nobody runs. */
function leftOut(node: ts.Node): string | null {
  if (!ts.isCallExpression(node)) return null;
  const called = node.expression.getText();
  if (/^(test|it|describe)(\.concurrent)?\.only\b|^f(it|describe)$/.test(called))
    return `${called} leaves all other tests out`;
  if (/^(test|it|describe)\.(skip|todo)\b|^x(it|test|describe)$/.test(called))
    return `${called}: a test that never runs`;
  return null;
}
