import ts from 'typescript';
import { isCode, nodesOf, packageOf, parse, productionPaths } from './code.ts';
import { type SourceFile, type Violation, at } from './tree.ts';

/** Who may touch the real world: everyone else gets it from kernel's interfaces. */
const FREE = /^(apps\/|tools\/|libs\/service-kit$)/;

const TIMERS = new Set(['setTimeout', 'setInterval', 'setImmediate']);
const AMBIENT = new Set(['process', 'console', 'performance']);

/** Below the apps nothing reads a clock, a random source, a timer, the environment or the console by itself. */
export function purityRules(files: readonly SourceFile[]): Violation[] {
  const production = productionPaths(files);
  return files.flatMap((file) => {
    const owner = packageOf(file);
    if (!isCode(file) || owner === null || FREE.test(owner) || !production.has(file.path)) return [];
    return [...nodesOf(parse(file))].flatMap((node) => {
      const touched = touches(node);
      return touched === null ? [] : [at(file, node.getStart(), `${touched}: use the interfaces of libs/kernel`)];
    });
  });
}

function touches(node: ts.Node): string | null {
  if (ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression)) {
    const [object, member] = [node.expression.text, node.name.text];
    if (object === 'Date' && member === 'now') return 'Date.now';
    if (object === 'Math' && member === 'random') return 'Math.random';
    if (object === 'globalThis') return `globalThis.${member}`;
    if (AMBIENT.has(object)) return `${object}.${member}`;
  }
  if (ts.isNewExpression(node) && node.expression.getText() === 'Date' && (node.arguments ?? []).length === 0)
    return 'new Date()';
  if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && TIMERS.has(node.expression.text))
    return node.expression.text;
  if (
    ts.isImportDeclaration(node) &&
    /^(node:)?(timers(\/promises)?|process|perf_hooks)$/.test((node.moduleSpecifier as ts.StringLiteral).text)
  ) {
    return node.moduleSpecifier.getText();
  }
  return null;
}
