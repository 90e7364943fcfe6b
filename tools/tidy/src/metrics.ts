import ts from 'typescript';
import { isCode, nodesOf, packageOf, parse, productionPaths } from './code.ts';
import type { SourceFile, Violation } from './tree.ts';

const DOCUMENT = 'docs/operating/metrics.md';
const KINDS: Readonly<Record<string, string>> = {
  counter: 'counter',
  gauge: 'gauge',
  gaugeOf: 'gauge',
  gaugesOf: 'gauge',
  histogram: 'histogram',
};
const ROW = /^\| *`(tidemark_\w+)` *\| *(\w+) *\|/gm;

/** Every metric that a service registers has a row of its kind under that service in the document, and no row is left over. */
export function metricRules(files: readonly SourceFile[]): Violation[] {
  const text = files.find(({ path }) => path === DOCUMENT)?.text ?? '';
  const told = new Set(
    text.split(/^## /m).flatMap((section) => {
      const [heading = ''] = section.split('\n', 1);
      return [...section.matchAll(ROW)].map(([, name, kind]) => `${heading}: ${name}, ${kind}`);
    }),
  );
  const registered = new Set(metricsOf(files));
  return [
    ...[...registered].filter((one) => !told.has(one)).map((one) => `${DOCUMENT}: no row for ${one}`),
    ...[...told].filter((one) => !registered.has(one)).map((one) => `${DOCUMENT}: nobody registers ${one}`),
  ];
}

/** `heading: name, kind` of each. */
function metricsOf(files: readonly SourceFile[]): string[] {
  const production = productionPaths(files);
  return files.flatMap((file) => {
    const owner = packageOf(file);
    if (!isCode(file) || owner === null || owner.startsWith('tools/') || !production.has(file.path)) return [];
    const heading = owner.startsWith('apps/') ? owner.slice('apps/'.length) : 'Every service';
    return [...nodesOf(parse(file))].flatMap((node) => {
      if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return [];
      const [name] = node.arguments;
      const kind = KINDS[node.expression.name.text];
      if (kind === undefined || name === undefined) return [];
      if (ts.isStringLiteral(name) && name.text.startsWith('tidemark_')) return [`${heading}: ${name.text}, ${kind}`];
      // A name that is put together could not be looked up here, nor by who searches for it.
      return node.expression.expression.getText() === 'metrics' ? [`${heading}: ${name.getText()}, ${kind}`] : [];
    });
  });
}
