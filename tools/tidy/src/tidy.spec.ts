import { existsSync } from 'node:fs';
import path from 'node:path';
import { brokerNameRules } from './broker-names.ts';
import { dependencyRules } from './dependencies.ts';
import { guaranteeRules } from './guarantees.ts';
import { habitRules } from './habits.ts';
import { importRules } from './imports.ts';
import { markdownRules } from './markdown.ts';
import { metricRules } from './metrics.ts';
import { mutantRules, sourceMutants } from './mutants.ts';
import { packageRules } from './packages.ts';
import { purityRules } from './purity.ts';
import { type SourceFile, repository } from './tree.ts';
import { wordRules } from './words.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const markdown = (files: readonly SourceFile[]) => markdownRules(files, (name) => existsSync(path.join(root, name)));

describe('the repository', () => {
  let files: readonly SourceFile[];
  // Not while tests are collected: a copy that is no checkout runs the tests of tiny trees alone.
  beforeAll(() => void (files = repository()));

  test.each([
    ['names and tags its packages by their place', packageRules],
    ['touches the real world in apps and service-kit alone', purityRules],
    ['imports SDKs and adapters where they belong', importRules],
    ['explains every dependency', dependencyRules],
    ['tests every guarantee that it calls built, and knows what each test kills', guaranteeRules],
    ['names only mutants that can be made', mutantRules],
    ['puts nothing off and leaves no test out', habitRules],
    ['has no dead link and no lost document', markdown],
    ['lists every metric, under the service that has it', metricRules],
    ['names no machine and no host', wordRules],
    ['BRK-6: names what a broker is made of in its adapter, wiring and settings alone', brokerNameRules],
  ])('%s', (_what, rule) => {
    expect(rule(files)).toEqual([]);
  });
});

/** A tiny tree: paths and texts. */
const tree = (texts: Record<string, string>): SourceFile[] =>
  Object.entries(texts).map(([name, text]) => ({ path: name, text }));

test('a wrong name and a wrong tag are found', () => {
  const manifest = (name: string, tag: string) => JSON.stringify({ name, nx: { tags: [tag] } });
  const good = { 'libs/op-store/sql/package.json': manifest('@tidemark/libs-op-store-sql', 'type:adapter') };
  expect(packageRules(tree(good))).toEqual([]);
  const driver = (tag: string) =>
    packageRules(tree({ 'libs/driver/dynamodb/package.json': manifest('@tidemark/libs-driver-dynamodb', tag) }));
  expect([driver('type:driver').length, driver('type:adapter').length]).toEqual([0, 1]);
  expect(packageRules(tree({ 'libs/op-store/sql/package.json': manifest('@tidemark/sql', 'type:flow') }))).toHaveLength(
    2,
  );
});

test('an app that would be deployed without its database driver is found', () => {
  const manifest = (runtimeOnly: string[]) => ({
    'apps/relay/package.json': JSON.stringify({
      name: '@tidemark/apps-relay',
      dependencies: { '@tidemark/libs-op-store-sql': '*' },
      runtimeOnly,
      nx: { tags: ['type:app'] },
    }),
  });
  expect(packageRules(tree(manifest(['better-sqlite3'])))).toEqual([]);
  expect(packageRules(tree(manifest([])))).toEqual(['apps/relay/package.json: runtimeOnly must name better-sqlite3']);
});

test.each([
  'Date.now()',
  'new Date()',
  'Math.random()',
  'setTimeout(f, 1)',
  'setInterval(f, 1)',
  'setImmediate(f)',
  'performance.now()',
  'process.env.X',
  "console.log('x')",
  'globalThis.setTimeout(f)',
  'AbortSignal.timeout(1)',
  'Date()',
  'crypto.randomUUID()',
  'f(process)',
  'later(setTimeout)',
])('%s below the apps is found in production code, and nowhere else', (code) => {
  const found = (name: string) => purityRules(tree({ [name]: `\nexport const x = ${code};` }));
  expect(found('libs/fold/src/index.ts')).toHaveLength(1);
  expect(found('libs/fold/src/index.ts')[0]).toMatch(/^libs\/fold\/src\/index\.ts:2: /);
  expect(found('libs/service-kit/src/index.ts')).toEqual([]);
  expect(found('apps/relay/src/main.ts')).toEqual([]);
  expect(found('libs/fold/src/x.spec.ts')).toEqual([]);
});

test('comments, strings and dates of a given time are no violation; a file that index.ts reaches is searched', () => {
  expect(
    purityRules(tree({ 'libs/fold/src/index.ts': "// Date.now()\nexport const x = ['Date.now()', new Date(1)];" })),
  ).toEqual([]);
  const reached = {
    'libs/fold/src/index.ts': "export * from './deep/x.ts';",
    'libs/fold/src/deep/x.ts': 'Date.now();',
  };
  expect(purityRules(tree(reached))).toHaveLength(1);
  expect(
    purityRules(tree({ 'libs/fold/src/index.ts': "import { setTimeout as s } from 'node:timers/promises';" })),
  ).toHaveLength(1);
  const hashing = "import { createHash, randomUUID } from 'node:crypto';";
  expect(purityRules(tree({ 'libs/fold/src/index.ts': hashing }))).toEqual([
    'libs/fold/src/index.ts:1: randomUUID: use the interfaces of libs/kernel',
  ]);
});

test('members that are named like a global are no violation', () => {
  const code =
    'export const f = (x: { process: { console: 1 } }) => ({ performance: x.process.console, setTimeout: 1 });';
  expect(purityRules(tree({ 'libs/fold/src/index.ts': code }))).toEqual([]);
});

test('a file that nothing imports is searched; one that only tests import is not', () => {
  const worker = { 'libs/fold/src/worker.ts': 'Date.now();' };
  expect(purityRules(tree(worker))).toHaveLength(1);
  expect(purityRules(tree({ ...worker, 'libs/fold/src/a.spec.ts': "import './worker.ts';" }))).toEqual([]);
  expect(purityRules(tree({ ...worker, 'libs/fold/src/testing.ts': "export * from './worker.ts';" }))).toEqual([]);
});

test.each([
  ['libs/relay/src/index.ts', "import { x } from '@nestjs/common';"],
  ['libs/relay/src/index.ts', "import { x } from '@aws-sdk/client-dynamodb';"],
  ['libs/broker/embedded/src/index.ts', "import { connect } from 'nats';"],
  ['libs/broker/embedded/src/index.ts', "import { DataSource } from 'typeorm';"],
  ['libs/driver/dynamodb/src/index.ts', "import pg from 'pg';"],
  ['libs/kernel/src/index.ts', "import fs from 'node:fs';"],
  ['libs/fold/src/index.ts', "import { x } from 'left-pad';"],
  ['libs/fold/src/index.ts', "import { x } from '@tidemark/libs-kernel/testing';"],
  ['libs/fold/src/index.ts', "import { x } from './testing.ts';"],
  ['apps/relay/src/main.ts', "import { connectSqlite } from '@tidemark/libs-op-store-sql';"],
  ['apps/relay/src/main.ts', "const x = await import('@tidemark/libs-op-store-sql');"],
])('in %s this import is found: %s', (name, code) => {
  expect(importRules(tree({ [name]: code }))).toHaveLength(1);
});

test('imports in their place pass', () => {
  const fine = {
    'apps/relay/src/main.ts': "import { x } from '@nestjs/common'; import './wiring.ts';",
    'apps/relay/src/wiring.ts':
      "const x = await import('@tidemark/libs-op-store-sql'); import type { A } from '@tidemark/libs-broker-contract';",
    'libs/op-store/sql/src/index.ts': "import { DataSource } from 'typeorm';",
    'libs/driver/postgres/src/index.ts': "import { DataSource } from 'typeorm'; import pg from 'pg';",
  };
  expect(importRules(tree(fine))).toEqual([]);
});

test('a dependency without a row, a row without a dependency and a loose version are found', () => {
  const files = tree({
    'package.json': JSON.stringify({
      dependencies: { zod: '4.6.7', pino: '^10.0.0' },
      devDependencies: { jest: '30.5.2' },
    }),
    'docs/dependencies.md': '| `zod` | MIT |\n| `pino` | MIT |\n| `left-over` | MIT |\n',
  });
  expect(dependencyRules(files)).toEqual([
    'docs/dependencies.md: no row for jest',
    'docs/dependencies.md: left-over is no dependency',
    'package.json: pino has no exact version (^10.0.0)',
  ]);
});

test('a built guarantee without a test, without a mutant, and an unknown id are found', () => {
  const ledger =
    '| RLY-1 | x | built |\n| RLY-2 | x | built |\n| RLY-3 | x | built |\n| RLY-4 | x | built |\n| RLY-5 | x | planned |\n';
  const found = guaranteeRules(
    tree({
      'docs/guarantees.md': ledger,
      'libs/relay/src/a.spec.ts':
        "test('RLY-2: x', f);\n// kills: a.ts: x => y\ntest('RLY-3: y', f);\ntest('RLY-99: z', f);",
      'libs/op-store/contract/src/testing.ts': "export const c = [{ title: 'RLY-4: w', kills: 'm' }];",
    }),
  );
  expect(found).toEqual([
    `test "'RLY-99: z'": RLY-99 is not in docs/guarantees.md`,
    'docs/guarantees.md: RLY-1 is called built, and no test carries it',
    'docs/guarantees.md: RLY-2 is called built, and none of its tests names a mutant that it kills',
  ]);
});

test('a mutant that cannot be made is found; one that can is what the comment says', () => {
  const files = (kills: string) =>
    tree({
      'libs/fold/src/mark.ts': 'export const twice = (n: number) => n + n;',
      'libs/fold/src/mark.spec.ts': `// kills: ${kills}\ntest('FLD-1: x', f);`,
    });
  expect(mutantRules(files('a typo'))).toEqual([
    'libs/fold/src/mark.spec.ts:2: kills: a typo is not of the form FILE: FROM => TO',
  ]);
  expect(mutantRules(files('mark.ts: n => m'))).toEqual([
    'libs/fold/src/mark.spec.ts:2: n stands 5 times in libs/fold/src/mark.ts',
  ]);
  expect(mutantRules(files('gone.ts: n => m'))).toHaveLength(1);
  const sound = files('mark.ts: n + n => n');
  expect(mutantRules(sound)).toEqual([]);
  expect(sourceMutants(sound)).toMatchObject([{ file: 'libs/fold/src/mark.ts', from: 'n + n', to: 'n' }]);
});

test.each([
  ['libs/fold/src/a.spec.ts', "test.only('x', f);"],
  ['libs/fold/src/a.spec.ts', "describe.skip('x', f);"],
  ['libs/fold/src/a.spec.ts', "test.todo('x');"],
  ['libs/fold/src/index.ts', `// ${'TO' + 'DO'}: later`],
  ['libs/fold/src/index.ts', 'export class FoldManager {}'],
  ['libs/fold/src/index.ts', 'export interface IFold { readonly a: 1 }'],
  ['libs/fold/src/fold-utils.ts', 'export const a = 1;'],
])('in %s this habit is found: %s', (name, code) => {
  expect(habitRules(tree({ [name]: code }))).toHaveLength(1);
});

test('a choice between test and test.skip, and names that only begin alike, pass', () => {
  const fine = {
    'libs/fold/src/a.spec.ts': "const withData = data === null ? test.skip : test; withData('x', f);",
    'libs/fold/src/index.ts': 'export class IngestService {} export interface Baseline { readonly a: 1 }',
    'libs/fold/src/base-line.ts': 'export const a = 1;',
  };
  expect(habitRules(tree(fine))).toEqual([]);
});

test('a metric without a row, one under another service or of another kind, and a row without a metric are found', () => {
  const files = tree({
    'apps/relay/src/main.ts':
      "m.counter('tidemark_a_total', 'x'); m.histogram('tidemark_b', 'x'); m.gauge(name); metrics.gauge(name, 'x');",
    'libs/service-kit/src/index.ts': "m.gaugeOf('tidemark_c', 'x', f); m.counter('tidemark_d_total', 'x');",
    'libs/service-kit/src/x.spec.ts': "m.counter('tidemark_test', 'x');",
    'docs/operating/metrics.md':
      '## Every service\n| `tidemark_c` | gauge | x |\n## relay\n| `tidemark_b` | counter | x |\n| `tidemark_d_total` | counter | x |\n',
  });
  expect(metricRules(files).map((one) => one.slice('docs/operating/metrics.md: '.length))).toEqual([
    'no row for relay: tidemark_a_total, counter',
    'no row for relay: tidemark_b, histogram',
    'no row for relay: name, gauge',
    'no row for Every service: tidemark_d_total, counter',
    'nobody registers relay: tidemark_b, counter',
    'nobody registers relay: tidemark_d_total, counter',
  ]);
});

test('dead links, dead anchors and lost documents are found', () => {
  const files = tree({
    'README.md':
      '[a](docs/a.md) [b](docs/none.md) [c](docs/a.md#no-such) [d](docs/a.md#good-one) [e](https://x.y)\n```\n[x](nowhere)\n```',
    'docs/a.md': '# Good one\n',
    'docs/lost.md': '# Lost\n',
  });
  expect(markdownRules(files, (name) => ['README.md', 'docs/a.md'].includes(name))).toEqual([
    'README.md:1: no file docs/none.md',
    'README.md:1: docs/a.md has no heading #no-such',
    'docs/lost.md: no link leads here from README.md',
  ]);
});

test('a machine path, a registry host and the shared folder are found', () => {
  const path = ['', 'work', 'main'].join('/');
  const host = ['registry', 'npmjs', 'org'].join('.');
  expect(
    wordRules(tree({ 'a.md': `x\n${path}/y`, 'b.md': host, 'c.ts': `'${['..', 'shared', 'data'].join('/')}'` })),
  ).toHaveLength(3);
});

// kills: broker-names.ts: return position < 0 ? [] : => return position < 1e9 ? [] :
test('BRK-6: what a broker is made of is found in libraries and apps, and passes in its adapter, wiring and settings', () => {
  const named = '// As NATS does.\nexport const a = 1;';
  const files = tree({
    'libs/ingest/src/index.ts': named,
    'apps/ingest/src/main.ts': "import './wiring.ts'; export const stream = 'jetStream';",
    'apps/ingest/src/wiring.ts': named,
    'libs/broker/jetstream/src/index.ts': named,
    'libs/service-kit/src/index.ts': "export * from './broker-settings.ts';",
    'libs/service-kit/src/broker-settings.ts': named,
    'libs/ingest/src/x.spec.ts': named,
    'tools/bench/src/main.ts': named,
  });
  expect(brokerNameRules(files).map((one) => one.split(':')[0])).toEqual([
    'libs/ingest/src/index.ts',
    'apps/ingest/src/main.ts',
  ]);
});
