import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type SourceMutant, sourceMutants } from './mutants.ts';
import { repository } from './tree.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const mutants = sourceMutants(repository());
let copy: string;

beforeAll(() => {
  copy = mkdtempSync(path.join(tmpdir(), 'tidemark-mutants-'));
  const filter = (name: string) => !/\/(node_modules|dist|coverage)$/.test(name);
  for (const name of [
    'apps',
    'libs',
    'tools',
    'docker',
    'docs',
    'package.json',
    'jest.config.cjs',
    'tsconfig.base.json',
  ])
    cpSync(path.join(root, name), path.join(copy, name), { recursive: true, filter });
  symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

interface JestResult {
  readonly testResults: readonly { readonly assertionResults: readonly { readonly status: string }[] }[];
}

/** What became of the tests that bear the mutant's title; none when the file did not even run. */
function outcomes({ test }: SourceMutant): string[] {
  const jest = path.join('node_modules', 'jest', 'bin', 'jest.js');
  const args = [
    '--experimental-vm-modules',
    jest,
    '--json',
    '--forceExit',
    '--runTestsByPath',
    test.file.path,
    '-t',
    pattern(test.title),
  ];
  // A test that is long, as this one is, or an ordinary one.
  const long = test.file.path.endsWith('.long.spec.ts') ? '1' : '0';
  const env = { ...process.env, TIDEMARK_TEST_LONG: long };
  const { stdout } = spawnSync(process.execPath, args, {
    cwd: copy,
    env,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    // A mutant may leave something open that would keep the run alive for ever.
    timeout: 120_000,
    killSignal: 'SIGKILL',
  });
  // It ran for ever, and was killed.
  if (stdout === '') return ['failed'];
  const { testResults } = JSON.parse(stdout) as JestResult;
  const all = testResults.flatMap(({ assertionResults }) => assertionResults.map(({ status }) => status));
  return all.filter((status) => status !== 'pending');
}

/** A title in the source may hold places that a table or a template fills. */
function pattern(title: string): string {
  const escaped = title.slice(1, -1).replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return escaped.replace(/%[a-z]|\\\$\\\{.*?\\\}|\\\$\w+/g, '.*');
}

test.each(mutants.map((mutant) => [mutant.test.title, mutant] as const))(
  '%s notices its mutant',
  (_title, mutant) => {
    expect(new Set(outcomes(mutant))).toEqual(new Set(['passed']));
    const file = path.join(copy, mutant.file);
    const sound = readFileSync(file, 'utf8');
    writeFileSync(
      file,
      sound.replace(mutant.from, () => mutant.to),
    );
    try {
      expect(outcomes(mutant)).toContain('failed');
    } finally {
      writeFileSync(file, sound);
    }
  },
  120_000,
);
