import ts from 'typescript';
import { isCode, nodesOf, packageOf, parse, productionPaths } from './code.ts';
import { type SourceFile, type Violation, at } from './tree.ts';

/** Who may touch the real world: everyone else gets it from kernel's interfaces. */
const FREE = /^(apps\/|tools\/|libs\/service-kit$)/;

const TIMERS = new Set(['setTimeout', 'setInterval', 'setImmediate']);
const AMBIENT = new Set(['process', 'console', 'performance', 'globalThis', 'crypto']);
const CLOCK_MODULES = /^(node:)?(timers(\/promises)?|process|console|perf_hooks)$/;
/** Of node:crypto, which hashes as well. */
const CHANCE = /^(random(Bytes|UUID|Int|Fill|FillSync)|getRandomValues|webcrypto)$/;

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
  if (ts.isIdentifier(node)) return ambient(node);
  if (ts.isPropertyAccessExpression(node)) {
    const text = node.getText();
    return /^(Date\.now|Math\.random|AbortSignal\.timeout)$/.test(text) ? text : null;
  }
  if (ts.isNewExpression(node) && node.expression.getText() === 'Date' && (node.arguments ?? []).length === 0)
    return 'new Date()';
  if (ts.isCallExpression(node) && node.expression.getText() === 'Date') return 'Date()';
  if (ts.isImportDeclaration(node) && CLOCK_MODULES.test((node.moduleSpecifier as ts.StringLiteral).text))
    return node.moduleSpecifier.getText();
  return null;
}

/** A global that is used as a value: neither a member of that name, nor declared here. */
function ambient(node: ts.Identifier): string | null {
  const { parent, text } = node;
  if (ts.isImportSpecifier(parent) && CHANCE.test((parent.propertyName ?? parent.name).text)) return text;
  if (!AMBIENT.has(text) && !TIMERS.has(text)) return null;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node ? parent.getText() : null;
  const names = parent as ts.Node & { readonly name?: ts.Node; readonly propertyName?: ts.Node };
  return names.name === node || names.propertyName === node || ts.isTypeQueryNode(parent) ? null : text;
}
